"""The synthesizers of SDV, behind the extra ``sdv`` (SDV is BUSL-1.1, so synthrisk never requires it).

SDV refuses or alters many columns: categories, nullable dtypes, constants, keys. It is given only what it
learns from: floats, and texts that number the levels. So no level's name reaches its metadata or its logs.
"""

import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError, check_whole
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.tasks.synthesize.cart import coded
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer, side_by_side

_TABLE = "table"
_LOGGERS = ("SingleTableSynthesizer", "sdv", "rdt", "copulas", "ctgan")  # at INFO they log dicts per fit
_DISTRIBUTIONS = ("norm", "beta", "truncnorm", "uniform", "gamma", "gaussian_kde")


def gaussian_copula(
    job: Job,
    *,
    default_distribution: str = "beta",
    numerical_distributions: Mapping[str, str] | None = None,
    enforce_min_max_values: bool = True,
    enforce_rounding: bool = True,
) -> Release:
    """Fit a Gaussian copula over parametric marginals (SDV's GaussianCopulaSynthesizer).

    Args:
        job: What to learn from, how many rows, and the seed.
        default_distribution: Marginal of the numeric columns: norm, beta, truncnorm, uniform, gamma or gaussian_kde
            (which keeps the shape best, and costs most). SDV's own default, beta, now and then finds a wrong fit and
            releases a constant (SDV issues 1686, 2542): look at the utility, and try norm.
        numerical_distributions: Marginals of single columns, by column name.
        enforce_min_max_values: Whether values stay inside the observed range.
        enforce_rounding: Whether floats are rounded as observed.

    Raises:
        InputError: SDV is not installed, an option is wrong, or there are fewer than two training records.
    """
    options = _marginals(default_distribution, numerical_distributions)
    options |= {"enforce_min_max_values": enforce_min_max_values, "enforce_rounding": enforce_rounding}
    return _release(job, "GaussianCopulaSynthesizer", options)


def ctgan(
    job: Job, *, epochs: int = 300, batch_size: int = 500, pac: int = 10, discriminator_steps: int = 1
) -> Release:
    """Fit a conditional GAN (SDV's CTGANSynthesizer; Xu et al. 2019, arXiv:1907.00503).

    Args:
        job: What to learn from, how many rows, and the seed.
        epochs: Passes over the training table; 300 take about an hour for 10,000 x 12 on one core.
        batch_size: Records a step; even, and a multiple of ``pac``.
        pac: Records that the discriminator judges together.
        discriminator_steps: Steps of the discriminator for one of the generator.

    Raises:
        InputError: As ``gaussian_copula``.
    """
    _check_batch(batch_size, pac)
    options = {"epochs": epochs, "batch_size": batch_size, "pac": pac, "discriminator_steps": discriminator_steps}
    return _release(job, "CTGANSynthesizer", options)


def copulagan(
    job: Job,
    *,
    epochs: int = 300,
    batch_size: int = 500,
    pac: int = 10,
    discriminator_steps: int = 1,
    default_distribution: str = "beta",
    numerical_distributions: Mapping[str, str] | None = None,
) -> Release:
    """Fit a CTGAN to columns made normal by parametric marginals (SDV's CopulaGANSynthesizer).

    Options as ``ctgan`` and ``gaussian_copula``.
    """
    _check_batch(batch_size, pac)
    options: dict[str, Any] = {"epochs": epochs, "batch_size": batch_size, "pac": pac}
    options |= {"discriminator_steps": discriminator_steps, **_marginals(default_distribution, numerical_distributions)}
    return _release(job, "CopulaGANSynthesizer", options)


def tvae(job: Job, *, epochs: int = 300, batch_size: int = 500, loss_factor: float = 2) -> Release:
    """Fit a variational autoencoder (SDV's TVAESynthesizer; Xu et al. 2019, arXiv:1907.00503).

    Args:
        job: What to learn from, how many rows, and the seed.
        epochs: Passes over the training table.
        batch_size: Records a step.
        loss_factor: Weight of the reconstruction error.

    Raises:
        InputError: As ``gaussian_copula``.
    """
    _check_batch(batch_size, 1)
    return _release(job, "TVAESynthesizer", {"epochs": epochs, "batch_size": batch_size, "loss_factor": loss_factor})


def _marginals(default: str, of_columns: Mapping[str, str] | None) -> dict[str, Any]:
    return {"default_distribution": default, "numerical_distributions": dict(of_columns or {})}


def _check_batch(batch_size: int, pac: int) -> None:
    for name, value in (("batch_size", batch_size), ("pac", pac)):
        check_whole(name, value, 1)
    if batch_size % 2 or batch_size % pac:
        raise InputError(f"batch_size must be even and a multiple of pac = {pac}, got {batch_size}")


def _check(job: Job, options: Mapping[str, Any]) -> None:
    if len(job.train) < 2 or job.rows < 1:
        raise InputError(f"SDV needs 2 training records, got {len(job.train)}, and 1 row to draw, got {job.rows}")
    for name in ("epochs", "discriminator_steps"):
        check_whole(name, options.get(name, 1), 1)
    chosen = options.get("numerical_distributions", {})
    known = [str(c) for c in job.train.columns]
    if unknown := [c for c in chosen if c not in known]:
        raise InputError(f"numerical_distributions must name columns of the table, got {unknown[0]!r}")
    for value in (options.get("default_distribution", "beta"), *chosen.values()):
        if value not in _DISTRIBUTIONS:
            raise InputError(f"a distribution must be one of {', '.join(_DISTRIBUTIONS)}, got {value!r}")


def _release(job: Job, kind: str, options: dict[str, Any]) -> Release:
    _check(job, options)
    plain, sdtypes = encoded(job.train)
    if plain.empty:  # every column is constant: there is nothing to learn
        return Release(decoded(pd.DataFrame(index=pd.RangeIndex(job.rows)), job.train))
    if "numerical_distributions" in options:
        chosen = options["numerical_distributions"].items()
        numeric = {c: d for c, d in chosen if sdtypes.get(c) == "numerical"}  # SDV warns of the others
        options = {**options, "numerical_distributions": numeric}
    return Release(decoded(_fit_and_sample(job, kind, options, plain, sdtypes), job.train))


def _fit_and_sample(
    job: Job, kind: str, options: dict[str, Any], plain: pd.DataFrame, sdtypes: dict[str, str]
) -> pd.DataFrame:
    fit_seed, sample_seed = (int(s) for s in np.random.SeedSequence(job.seed).generate_state(2) >> 1)
    with _quiet(), _one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SDV warns of its own deprecations
        synthesizers, metadata = libraries("sdv", "sdv.single_table", "sdv.metadata")
        columns = {name: {"sdtype": sdtype} for name, sdtype in sdtypes.items()}
        # Never detected: detection takes unique integers for keys and replaces them.
        described = metadata.Metadata.load_from_dict({"tables": {_TABLE: {"columns": columns}}})
        with _seeded(fit_seed):
            device = {} if kind == "GaussianCopulaSynthesizer" else {"cuda" if _is_old() else "enable_gpu": False}
            model = getattr(synthesizers, kind)(described, **options, **device)
            model.fit(plain if _is_old() else {_TABLE: plain})
            model.reset_sampling()
            model._set_random_state(sample_seed)  # SDV has no public seed
            sample = model.sample(job.rows)
    return pd.DataFrame(sample[_TABLE] if isinstance(sample, Mapping) else sample)  # 1.x returns the frame itself


def libraries(extra: str, *modules: str) -> list[Any]:
    """Return the modules of an extra, or say how it is installed."""
    try:
        return [import_module(module) for module in modules]
    except ModuleNotFoundError as error:
        raise InputError(f"the package {error.name!r} is not installed: pip install 'synthrisk[{extra}]'") from None


def _is_old() -> bool:
    import sdv

    return int(sdv.__version__.split(".")[0]) < 2


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators that SDV draws from, on one thread (their number changes CTGAN's sums)."""
    import torch

    state, threads = np.random.get_state(), torch.get_num_threads()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        np.random.seed(seed)  # noqa: NPY002
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            np.random.set_state(state)  # noqa: NPY002


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep SDV from starting a pool of processes for its transforms of 500 rows or more."""
    before = os.environ.get("LOKY_MAX_CPU_COUNT")
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["LOKY_MAX_CPU_COUNT"]
        else:
            os.environ["LOKY_MAX_CPU_COUNT"] = before


@contextmanager
def _quiet() -> Iterator[None]:
    before = {name: logging.getLogger(name).level for name in _LOGGERS}
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


_PACKAGES = ("sdv", "rdt", "copulas", "ctgan", "torch", "numpy", "pandas", "scikit-learn")
GAUSSIAN_COPULA = Synthesizer("gaussian_copula", gaussian_copula, "sdv", _PACKAGES, trial="few")
CTGAN = Synthesizer("ctgan", ctgan, "sdv", _PACKAGES, trial="few")
TVAE = Synthesizer("tvae", tvae, "sdv", _PACKAGES, trial="few")
COPULAGAN = Synthesizer("copulagan", copulagan, "sdv", _PACKAGES, trial="few")

_SECOND = 10**9
UNITS = (86_400 * _SECOND, 3_600 * _SECOND, 60 * _SECOND, _SECOND, 10**6, 10**3, 1)


def encoded(train: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the plain table and the SDV type of each of its columns.

    Numeric: floats, NaN where missing; dates and durations as numbers of the coarsest unit that holds them
    all (days, seconds, ...), so that rounding gives dates of the same kind. Categorical: ``"0", "1", ...`` by
    level, missing being one. Columns of one value are left out: ``decoded`` repeats the value.
    """
    columns: dict[str, pd.Series[Any]] = {}
    sdtypes: dict[str, str] = {}
    if len({str(name) for name in train.columns}) < train.shape[1]:
        raise InputError(f"SDV needs columns whose names differ as texts, got {list(train.columns)}")
    for name in train.columns:
        column = train[name]
        codes = coded(column).codes
        if (codes == codes[0]).all():
            continue
        if kind(column) == "categorical":
            columns[str(name)], sdtypes[str(name)] = pd.Series(codes).astype(str), "categorical"
            continue
        values = as_floats(column) / _unit(column)
        if np.isinf(values).any():
            raise InputError(f"SDV needs finite numbers, got an infinity in column {name!r}")
        columns[str(name)] = pd.Series(values)
        sdtypes[str(name)] = "numerical"
    return pd.DataFrame(columns), sdtypes


def decoded(plain: pd.DataFrame, train: pd.DataFrame) -> pd.DataFrame:
    """Return a sampled plain table as a table with the columns and dtypes of ``train``."""
    plain = plain.reset_index(drop=True)
    columns = [
        _back(plain[str(name)], train[name])
        if str(name) in plain
        else train[name].take(np.zeros(len(plain), dtype=np.int64)).reset_index(drop=True)
        for name in train.columns
    ]
    return side_by_side(columns, train.columns, len(plain))


def _unit(column: pd.Series) -> float:
    if not is_temporal(column):
        return 1.0
    ticks = column.dropna().dt.as_unit("ns").astype("int64").to_numpy()  # the coarsest unit that holds all exactly
    return float(next(unit for unit in UNITS if not (ticks % unit).any()))


def _back(values: pd.Series, like: pd.Series) -> pd.Series:
    if kind(like) == "categorical":
        first = np.unique(coded(like).codes, return_index=True)[1]  # where each level occurs first
        return like.take(first[values.astype(np.int64).to_numpy()]).reset_index(drop=True)
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    missing = np.isnan(numbers)
    if not is_temporal(like) and types.is_float_dtype(like.dtype):
        return pd.Series(numbers).astype(like.dtype)
    # Cells are built from a real one of the column, so that zone, unit and dtype come along.
    result = like.take(np.full(len(numbers), _first(like, missing=False))).reset_index(drop=True)
    ends = like.dropna().min(), like.dropna().max()
    low, high = (int(end.value) if is_temporal(like) else int(end) for end in ends)
    scale = int(_unit(like))
    whole = [min(max(round(v) * scale, low), high) for v in numbers[~missing]]
    if missing.any():
        result[missing] = like.take([_first(like, missing=True)]).iloc[0]
    result[~missing] = cells_of(whole, like).array
    return result


def _first(column: pd.Series, missing: bool) -> int:
    return int(np.flatnonzero(column.isna().to_numpy() == missing)[0])


def cells_of(whole: list[int], like: pd.Series) -> pd.Series:
    """Return whole numbers as cells of a column like ``like``; of dates and durations they are nanoseconds."""
    if not is_temporal(like):
        return pd.Series(whole, dtype=like.dtype)
    if types.is_timedelta64_dtype(like.dtype):
        return pd.Series(pd.to_timedelta(whole, unit="ns")).astype(like.dtype)
    zone = getattr(like.dtype, "tz", None)
    dates = pd.Series(pd.to_datetime(whole, unit="ns", utc=True))
    return (dates.dt.tz_convert(zone) if zone else dates.dt.tz_localize(None)).astype(like.dtype)
