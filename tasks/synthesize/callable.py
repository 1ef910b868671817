"""A generator of your own: a Python function that takes the training table and returns a release."""

import inspect
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from io import StringIO
from pathlib import Path
from typing import cast

import pandas as pd

from synthrisk.metrics.errors import InputError, type_of
from synthrisk.metrics.models.threads import one_thread
from synthrisk.metrics.tables.entities import checked_links
from synthrisk.tasks.synthesize.column_matching import fitted
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer


def call(job: Job, *, path: str) -> Release:
    """Release what ``function(train, rows, seed)`` returns, read to fit the training table.

    It may have columns besides those of the training table: what they hold of real people is looked at. A function that
    knows which training row each row was made from may return the table and that, ``(table, links)``: whole numbers,
    one a row, 0 for the first training row, -1 for a row made from none. ``hidden_rate`` is taken of them.

    Args:
        job: The function gets a copy of its training table, its rows and its seed.
        path: ``package.module:function``, or ``file.py:function`` for a file of its own.

    Raises:
        InputError: There is no such function, or it returns no such table.

    Example:
        ``synthesizers: [{name: mine, kind: callable, path: "generators.py:bootstrap"}]`` with

        >>> def bootstrap(train: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
        ...     return train.sample(rows, replace=True, random_state=seed % 2**32)
    """
    made = _function(path)(job.train.copy(), job.rows, job.seed)
    table, links = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"{path} must return a DataFrame of pandas, got {type_of(table)}")
    if len(table) != job.rows:
        raise InputError(f"{path} must return {job.rows} rows, got {len(table)}")
    release = fitted(table, job.train, job.form, path)
    if links is None:
        return release
    return replace(release, links=checked_links(f"links of {path}", links, job.rows, len(job.train)))


def _check(path: str) -> None:
    """Find the function; what its file prints meanwhile is heard where it is called.

    The file runs, and may seed what the process has one of, while another thread synthesizes.
    """
    with one_thread(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        _function(path)


def _function(path: str) -> Callable[..., object]:
    place, name = _parts(path)
    try:
        module = _from_file(place) if place.endswith(".py") else import_module(place)
    except FileNotFoundError:
        raise InputError(f"path {path!r} cannot be imported: there is no such file") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever that file does when it is imported
        raise InputError(f"path {path!r} cannot be imported: {type(error).__name__}") from None
    function = getattr(module, name, None)
    if not callable(function):
        got = "no such name" if function is None else f"a {type(function).__name__}"
        raise InputError(f"path {path!r} must name a function of {place}, got {got}")
    if not _takes_three(function):
        raise InputError(
            f"path {path!r} must name a function of (train, rows, seed), got one that takes other arguments"
        )
    return cast(Callable[..., object], function)


def _takes_three(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # one that is not written in Python does not say what it takes
        return True
    return True


def _parts(path: str) -> tuple[str, str]:
    place, _, name = path.rpartition(":") if isinstance(path, str) else ("", "", "")
    if not place or not name.isidentifier():
        raise InputError(f"path must read 'package.module:function' or 'file.py:function', got {path!r}")
    return place, name


def _from_file(place: str) -> object:
    file = Path(place).resolve()
    if not file.is_file():
        raise FileNotFoundError(place)
    spec = spec_from_file_location(f"_synthrisk_{file.stem}", file)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - of a file that ends in .py
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look their module up
    spec.loader.exec_module(module)
    return module


def _inputs(options: dict[str, object], repetition: int, fold: int) -> list[str]:
    """Return the source file, so that an edited function makes new releases."""
    place, _ = _parts(str(options["path"]))
    if place.endswith(".py"):
        return [place]
    try:
        spec = find_spec(place)
    except ImportError:
        return []
    return [spec.origin] if spec is not None and spec.has_location and spec.origin else []


def _located(path: str, folder: Path) -> str:
    """Return where a function is found from another folder too: a module that lies beside the study is its file."""
    place, name = _parts(path)
    file = folder / (place if place.endswith(".py") else f"{place}.py")
    return f"{file}:{name}" if place.endswith(".py") or _is_file_of(place, file) else path


def _is_file_of(module: str, file: Path) -> bool:
    """Tell whether a module is this file, and no installed one of its name."""
    if "." in module or not file.is_file():
        return False
    spec = find_spec(module)
    return spec is None or spec.origin is None or Path(spec.origin).resolve() == file.resolve()


CALLABLE = Synthesizer("callable", call, packages=("pandas",), inputs=_inputs, located=_located, check=_check)
