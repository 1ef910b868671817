"""The only reader of study files, and what is wrong with them in words: the setting, the rule and what was got."""

import json
import os
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from synthrisk.conf.secrets import ALLOWED, check_variables, has_secret
from synthrisk.conf.study import Sql, Study
from synthrisk.metrics.errors import InputError, nearest

_M = TypeVar("_M", bound=BaseModel)


class _Once(yaml.SafeLoader):
    """Reads YAML in which no setting is given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return a mapping; refuse a second value of a key."""
        lines: dict[str, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            line = key.start_mark.line + 1
            if key.value in lines:
                raise InputError(f"{key.value!r} must be given once, got it at lines {lines[key.value]} and {line}")
            lines[key.value] = line
        return super().construct_mapping(node, deep)


def shipped() -> dict[str, str]:
    """Return the names of the studies that come with the package, and their YAML texts."""
    folder = files("synthrisk.conf")
    found = {f.name.removesuffix(".yaml"): f.read_text("utf-8") for f in folder.iterdir() if f.name.endswith(".yaml")}
    return dict(sorted(found.items()))


def load(study: str | Path | Mapping[str, Any] | Study = "demo", overrides: Sequence[str] = ()) -> Study:
    """Return the study of a YAML file, of a shipped name (demo, adult, smoke, paper_health ...), or of a mapping.

    Args:
        study: Path, name, settings, or a study.
        overrides: ``a.b=c`` settings that replace those of the file, ``a.b+=c`` settings that are added to a list or a
            mapping of the file; c is read as YAML.

    Raises:
        InputError: The file is absent or not YAML, or settings break their rules: all of them, each with its path.
    """
    given = study.model_dump() if isinstance(study, Study) else study
    name, settings = ("the study", deepcopy(dict(given))) if isinstance(given, Mapping) else _read(str(given))
    for override in overrides:
        _override(settings, override)
    loaded = checked(Study, settings, name)
    _check_environment(loaded)
    return loaded


LIMITS = ("limits", "thresholds")
"""The names that a study may give its limits."""


def checked(model: type[_M], settings: Any, name: str) -> _M:
    """Return settings as a model.

    Raises:
        InputError: They break its rules: all that is wrong, each with its path.
    """
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        lines = sentences(error, _places())
        if len(lines) == 1:
            raise InputError(f"{name} has 1 error: {lines[0]}") from None
        raise InputError(f"{name} has {len(lines)} errors:\n" + "\n".join(f"- {line}" for line in lines)) from None


def _places() -> dict[str, str]:
    """Return where each setting of a study stands, by its own name: ``folds`` in ``split.folds``."""
    found = Study.model_json_schema()
    places = {field: field for part in found["$defs"].values() for field in part.get("properties", {})}
    for name, part in found["properties"].items():
        for own in _DEFINED.findall(json.dumps(part)):
            places |= {field: f"{name}.{field}" for field in found["$defs"][own].get("properties", {})}
    return places | {name: name for name in found["properties"]}


_DEFINED = re.compile(r'"#/\$defs/(\w+)"')


def home() -> Path:
    """Return the folder in which this machine keeps its copies of shared workspaces."""
    return Path(os.environ.get("SYNTHRISK_HOME") or "~/.synthrisk").expanduser().absolute()


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study, for editors that complete YAML."""
    found = Study.model_json_schema()
    for part in found["$defs"].values():
        if part.get("title") in ("SynthesizerChoice", "MetricChoice"):
            part["additionalProperties"] = True  # options may be written beside the name
    for field in ("synthesizers", "references", "metrics"):
        items = found["properties"][field]["items"]
        found["properties"][field]["items"] = {"anyOf": [{"type": "string"}, items]}
    limits = found["properties"]["thresholds"]
    limits["additionalProperties"] = {
        "anyOf": [found["$defs"]["Threshold"]["properties"]["value"], limits["additionalProperties"]]
    }
    found["properties"]["limits"] = limits  # another name of the same
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def _read(study: str) -> tuple[str, dict[str, Any]]:
    path = Path(study)
    if study in shipped() and not path.exists():
        text = shipped()[study]
    elif path.is_file():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"the study must be a UTF-8 YAML file, got {study!r}") from None
    else:
        hint = nearest(study, shipped())
        lacks = "" if path.is_dir() else f"there is no file {study!r}: "
        raise InputError(f"{lacks}the study must be a YAML file or one of {', '.join(shipped())}, got {study!r}{hint}")
    try:
        settings = yaml.load(text, _Once)  # noqa: S506 - a safe loader
    except InputError as error:
        raise InputError(f"{study}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # numbers too long, brackets without end
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise InputError(f"{study} must be YAML, got a syntax error{line}") from None
    if not isinstance(settings, dict):
        got = "an empty file" if settings is None else type(settings).__name__
        raise InputError(f"{study} must be a YAML mapping of settings, got {got}")
    return study, settings


def _override(settings: dict[str, Any], override: str) -> None:
    path, equals, text = override.partition("=")
    adds, path = path.endswith("+"), path.removesuffix("+")
    if not equals or not all(path.split(".")):
        raise InputError(f"--set must be a.b=value, got {override!r}")
    if not text.strip():
        raise InputError(f"--set must be a.b=value, got {override!r}; write {path}=null for none")
    try:
        value = yaml.load(text, _Once)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        raise InputError(f"--set must be a.b=value with a YAML value, got {override!r}") from None
    here: Any = settings
    *parents, last = path.split(".")
    if parents and parents[0] in LIMITS:  # their keys hold dots
        parents, last = parents[:1], path.partition(".")[2]
    for part in parents:
        key = _key(here, part, override)
        if isinstance(here, list) and isinstance(here[key], str):
            here[key] = {"name": here[key]}
        elif isinstance(here, dict) and not isinstance(here.get(key), dict | list):
            here[key] = {}
        here = here[key]
    if adds and isinstance(here, dict):
        last = next((name for name in LIMITS if last in LIMITS and name in here), last)
        here[last] = _added(here.get(last, _default(path)), value, override)
    else:
        here[_key(here, last, override)] = value


def _default(path: str) -> Any:
    """Return what a study has for a list or a mapping that it does not name."""
    field = Study.model_fields.get("thresholds" if path in LIMITS else path)
    default = None if field is None else field.get_default(call_default_factory=True)
    if isinstance(default, list):
        return [each.model_dump() if isinstance(each, BaseModel) else each for each in default]
    return {} if path in LIMITS else default


def _added(old: Any, value: Any, override: str) -> Any:
    """Return a list or a mapping of a study with more in it."""
    if isinstance(old, dict) and isinstance(value, dict):
        return {**old, **value}
    if isinstance(old, list):
        return [*old, *(value if isinstance(value, list) else [value])]
    raise InputError(f"--set a.b+=value must add to a list, or a mapping to a mapping, got {override!r}")


def _key(here: Any, part: str, override: str) -> Any:
    if isinstance(here, dict):
        return part
    if not isinstance(here, list):
        raise InputError(f"--set must lead through mappings and lists, got {override!r}")
    if part.isdigit() and int(part) < len(here):
        return int(part)
    names = [i.get("name") if isinstance(i, dict) else i for i in here]
    if part in names:
        return names.index(part)
    raise InputError(f"--set must name an item of the list by name or number, got {override!r}")


def refuse_passwords(settings: Any) -> None:
    """Refuse settings in which a URL has a password, token or signature: they are shown and kept."""
    if any(map(has_secret, _texts(settings))):
        raise InputError(
            f"a URL must take its password from the environment (${{NAME}}), got one in the text; {ALLOWED} names the "
            "variables that it may take"
        )


def _check_environment(study: Study) -> None:
    """Refuse passwords in the text of a study, and variables that may not be taken or are not set."""
    refuse_passwords(study.model_dump())
    source = study.data.source
    place = source.url if isinstance(source, Sql) else source if isinstance(source, str) else ""
    for text in (study.tracking.uri or "", place):
        check_variables(text)


def _texts(settings: Any) -> Iterator[str]:
    if isinstance(settings, str):
        yield settings
    elif isinstance(settings, Mapping | list | tuple):
        for part in settings.values() if isinstance(settings, Mapping) else settings:
            yield from _texts(part)


RENAMED = {"controls": "references", "model_yardstick": "population_yardstick"}
"""Settings of earlier studies, and what each is called now."""

_BRANCH = re.compile(r"<|function-|constrained-|(dict|list|literal)\[")  # what pydantic calls the parts of a union
_RULES = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be a text",
    "list": "must be a list",
    "dict": "must be a mapping",
    "model": "must be a mapping of settings",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "finite_number": "must be a finite number",
    "too_short": "must hold at least {min_length} entry",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} letters",
    "literal_error": "must be {expected}",
    "string_pattern_mismatch": "must be letters, digits, - and _",
}
"""Rules by pydantic's type of the error, or by its first word."""


def sentences(error: ValidationError, known: Mapping[str, str]) -> list[str]:
    """Return a sentence for each setting that breaks a rule; ``known`` are places of all settings by their names."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for problem in error.errors(include_url=False, include_input=True):
        where = ".".join(str(p) for p in problem["loc"] if not _BRANCH.match(str(p))) or "study"
        found.setdefault(where, []).append(problem)
    return [_line(where, problems, known) for where, problems in found.items()]


def _line(where: str, problems: Sequence[Mapping[str, Any]], known: Mapping[str, str]) -> str:
    """Return what is wrong with one setting: of one that takes several forms, the rule of each."""
    if where in RENAMED and problems[0]["type"] == "extra_forbidden":
        return f"{where} is called {RENAMED[where]} now"
    if own := next((p for p in problems if p["type"] == "value_error"), None):
        return f"{where}: " + str(own["msg"]).removeprefix("Value error, ")
    rules = [rule for rule in (_rule(problem) for problem in problems) if rule]
    if rules:
        got = problems[0].get("input")
        shown = repr(got) if got is None or isinstance(got, str | int | float | bool) else type(got).__name__
        rules[1:] = [rule.removeprefix("must be ") for rule in rules[1:]]
        return f"{where}: {' or '.join(rules)}, got {shown}"
    problem = problems[0]
    if problem["type"] == "extra_forbidden":
        name = str(problem["loc"][-1])
        hint = f" (did you mean {known[name]!r}?)" if known.get(name, name) != name else nearest(name, known)
        return f"{where}: no such setting{hint}"
    return f"{where}: must be given"


def _rule(problem: Mapping[str, Any]) -> str:
    """Return the rule that a value breaks; nothing where the sentence is not about a value."""
    kind = str(problem["type"])
    if kind in ("extra_forbidden", "missing"):
        return ""
    rule = _RULES.get(kind) or _RULES.get(kind.partition("_")[0])
    if rule is None:
        return str(problem["msg"])
    ends = {name: f"{end:g}" if isinstance(end, float) else end for name, end in problem.get("ctx", {}).items()}
    return rule.format(**ends)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings as YAML, which is read as the same settings; what is allowed is called a limit."""
    told = {"limits" if name == "thresholds" else name: each for name, each in settings.items()}
    return str(yaml.safe_dump(told, sort_keys=False, allow_unicode=True))
