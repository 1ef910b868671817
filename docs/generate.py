"""Pages of the site that the code itself tells: metrics, study file, command line, Python. A hook of mkdocs."""

import io
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = {"README.md": "index.md", "deployments/README.md": "deployments.md", "CHANGELOG.md": "changelog.md"}
OUTSIDE |= {"tasks/data/CREDIT.md": "credit.md"}
MODULES = (
    "synthrisk.metrics.metric.Metric",
    "synthrisk.metrics.metric.Records",
    "synthrisk.metrics.metric.Yardsticks",
    "synthrisk.metrics.metric.InStudy",
    "synthrisk.metrics.score.Score",
    "synthrisk.metrics.attack",
    "synthrisk.metrics.testing",
    "synthrisk.metrics.distance.priveval.printed",
    "synthrisk.metrics.exposure.groups.risk_by",
    "synthrisk.metrics.exposure.attribution.attribution",
    "synthrisk.metrics.exposure.what_if",
    "synthrisk.metrics.intervals.epsilon.epsilon_lower_bound",
    "synthrisk.tasks.pages.plots",
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere in the project, and those that are made here."""
    made = {page: (ROOT / source).read_text("utf-8") for source, page in OUTSIDE.items()}
    made |= {"reference/metrics.md": metrics(), "reference/study.md": study()}
    made |= {"reference/command_line.md": command_line(), "reference/python.md": python()}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Return a page whose links to files of the project lead to the pages made of them."""
    for source, made in OUTSIDE.items():
        for start in ("", "../"):
            markdown = markdown.replace(f"]({start}{source}", f"]({made}")
    return _linked(markdown, page.file.src_uri).replace("](docs/", "](").replace("](../docs/", "](")


_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def _linked(markdown: str, page: str) -> str:
    """Return a page on which names of files of the docs are links with the title of the page; code stays."""
    up = "../" * page.count("/")

    def link(found: re.Match[str]) -> str:
        path = ROOT / found[0]
        title = path.read_text("utf-8").partition("\n")[0].lstrip("# ") if path.is_file() else ""
        return f"[{title}]({up}{found[1]}.md)" if title else found[0]

    parts = _CODE.split(markdown)
    parts[::2] = [re.sub(r"(?<![\[(/\w])docs/(\w+)\.md", link, part) for part in parts[::2]]
    return "".join(parts)


def metrics() -> str:
    """Return all of each metric, as ``synthrisk metrics NAME`` says it."""
    from synthrisk.flows.cli.metrics import print_metric
    from synthrisk.metrics import METRICS

    os.environ["COLUMNS"] = "100"
    lines = ["# Each metric", "", "What `synthrisk metrics NAME` prints, made from the register.", ""]
    for name in sorted(METRICS):
        with redirect_stdout(io.StringIO()) as told:
            print_metric(name)
        lines += [f"## {name}", "", METRICS[name].said, "", "```text", told.getvalue().strip(), "```", ""]
    return "\n".join(lines)


def study() -> str:
    """Return the settings of a study, from its schema."""
    from synthrisk.conf.study import Study

    schema = Study.model_json_schema()
    lines = ["# Study file", "", "All settings of a study, made from its schema. Unknown keys are refused.", ""]
    lines += _settings("The study", schema)
    for name, part in sorted(schema["$defs"].items()):
        lines += _settings(name, part) if "properties" in part else []
    return "\n".join(lines)


def _settings(name: str, schema: dict[str, Any]) -> list[str]:
    needed = schema.get("required", [])
    lines = [f"## {name}", "", *schema.get("description", "").splitlines(), ""]
    lines += ["| key | is | unless given | says |", "|---|---|---|---|"]
    for key, each in schema["properties"].items():
        default = "must be given" if key in needed else f"`{each['default']!r}`" if "default" in each else "-"
        cells = (f"`{key}`", _kind(each), default, each.get("description", ""))
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return [*lines, ""]


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return " or ".join(dict.fromkeys(_kind(each) for each in schema[either]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{each}`" for each in schema.get("enum", [schema.get("const")]))
    items = f" of {_kind(schema['items'])}" if schema.get("items") else ""
    return f"{schema.get('type', 'any')}{items}"


def _cell(text: str) -> str:
    return " ".join(text.replace("``", "`").replace("|", "\\|").split())


def command_line() -> str:
    """Return each command with its arguments, from the program's own help."""
    from typer.main import get_command

    from synthrisk.flows.cli.app import app

    lines = ["# Command line", "", "What `synthrisk COMMAND --help` says, made from the program.", ""]
    return "\n".join([*lines, *(line for each in _commands(get_command(app)) for line in each)])


def _commands(group: Any) -> Iterator[list[str]]:
    for name, command in group.commands.items():
        lines = [f"## synthrisk {name}", "", *(command.help or "").splitlines(), "", command.epilog or "", ""]
        lines += ["| argument | says | unless given |", "|---|---|---|"]
        for each in command.params:
            named = each.name.upper() if each.param_type_name == "argument" else ", ".join(each.opts)
            default = each.default if isinstance(each.default, str | int | float | bool | Path) else "-"
            said = _cell(getattr(each, "help", None) or "")
            lines.append(f"| `{named}` | {said} | {default if default == '-' else f'`{default}`'} |")
        yield [*lines, ""]


def python() -> str:
    """Return the page of the Python interface; mkdocstrings fills it in."""
    lines = ["# Python", "", "What [From Python](../python.md) and [Adding your own](../extend.md) use.", ""]
    return "\n".join(lines + [f"::: {each}\n" for each in MODULES])
