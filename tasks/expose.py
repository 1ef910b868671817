"""Write a page for one generator that says who is at risk, and why: for the table's stewards alone."""

from pathlib import Path

from synthrisk.tasks.pages.templates import looks
from synthrisk.tasks.workspace.digests import code_digest, file_digest, key_of, versions
from synthrisk.tasks.workspace.failures import told_safely
from synthrisk.tasks.workspace.folders import Place, keep_file, share_file, there
from synthrisk.tasks.workspace.references import Found
from synthrisk.tasks.workspace.store import replace_file
from synthrisk.tasks.workspace.verb import verb

_PAGE = "synthrisk.tasks.pages.exposure"
_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy", "matplotlib", "jinja2")


@verb("expose", "expose {found.name}")
def expose(found: Found, study_id: str, confidence: float) -> str:
    """Write the page of exposure, its intervals at this confidence; return its path. It holds values of the table.

    A page that an earlier study has left is found again, and given this study's id.
    """
    from synthrisk.tasks.pages.exposure import exposure_page  # and with it matplotlib, where the task is called

    folder = Path(found.sample.workspace)
    path = folder / "reports" / study_id / f"exposure-{found.name}.html"

    def written() -> str:
        key = page_key(found, confidence)
        kept = folder / "exposures" / f"{key}.html"
        keep_file(kept, lambda draft: draft.write_text(exposure_page(found, key, confidence), "utf-8"))
        return Place(share_file(replace_file(path, kept.read_text("utf-8").replace(key, study_id))))

    return told_safely(folder, f"expose-{found.name}", written)


def page_key(found: Found, confidence: float) -> str:
    """Return a digest of all that decides what is on the page; it stands there for the study's id."""
    return key_of(
        found.name,
        file_digest(there(found.exposed)),
        (found.sample.table.digest, found.sample.identifier, confidence, found.generator.kind, found.sample.cut.is_one),
        repr((found.findings, found.planned)),
        code_digest([_PAGE], alone=[__name__]),
        looks(),
        versions(_PACKAGES),
    )
