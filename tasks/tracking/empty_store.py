"""An empty store of MLflow, kept in the user's cache folder: to copy it takes a thousandth of the time to make one."""

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import mlflow
from platformdirs import user_cache_path

from synthrisk.tasks.workspace.store import draft_name


def copied(to: Path) -> bool:
    """Copy the empty store of this version of MLflow to a file; return whether there is a whole one."""
    kept = _kept()
    if kept is None:
        return False
    with suppress(OSError, sqlite3.Error):
        shutil.copyfile(kept, to)
        with closing(sqlite3.connect(to)) as store:
            whole = store.execute("PRAGMA quick_check").fetchone() == ("ok",)
            if whole and store.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,):
                return True
    to.unlink(missing_ok=True)
    return False


def keep_copy(of: Path) -> None:
    """Keep a copy of a SQLite store that holds nothing but its tables yet, where the cache folder can be written.

    The experiment that MLflow puts into each store is left out, for it names the folder of that one; MLflow puts one
    into a store that has none.
    """
    kept = _kept()
    if kept is None:
        return
    draft = kept.with_name(f"{draft_name()}{kept.name}")
    with suppress(OSError, sqlite3.Error):
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(of, draft)
            with closing(sqlite3.connect(draft)) as store:
                store.execute("PRAGMA secure_delete = ON")  # else what was deleted stays in the file
                store.execute("DELETE FROM experiments")
                store.commit()
            draft.replace(kept)
        finally:
            draft.unlink(missing_ok=True)


def _kept() -> Path | None:
    """Return where the empty store is kept; None where the user has no cache folder."""
    try:
        folder = Path(user_cache_path("synthrisk", appauthor=False))
    except RuntimeError:  # no home
        return None
    return folder / f"mlflow-{mlflow.__version__}.db" if folder.is_absolute() else None
