"""What a study is: one frozen tree of settings that forbids unknown keys."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from synthrisk.conf.secrets import without_secrets
from synthrisk.conf.tables import FileForm, Reading, Settings, Texts, source_function
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import nearest
from synthrisk.metrics.exposure.what_if import CHANGES_NOTHING
from synthrisk.metrics.plugins import SOURCE_GROUP, SYNTHESIZER_GROUP, points
from synthrisk.metrics.study.ledger import label_of
from synthrisk.metrics.tables.coarsen import MOST_BINS
from synthrisk.metrics.tables.tables import columns_of, name_of

ALL_OTHERS = "*"
REFERENCES = ("copy", "near_copy", "repelled", "leaky", "fresh", "marginals")
GENERATOR_NAME = r"^[A-Za-z0-9_\-]+$"
_LONGEST = 100  # letters of a name: files and folders are called by it
NON_MEMBERS = "nonmembers"  # name and kind of the release behind the population yardstick


def _once(names: Any) -> Any:
    twice = sorted({n for n in names if names.count(n) > 1}) if isinstance(names, list) else []
    if twice:
        raise ValueError(f"each name must be given once, got {twice[0]!r} twice")
    return names


def _one_or_more(words: Any) -> Any:
    return [words] if isinstance(words, str) else words


Names = Annotated[list[str], AfterValidator(_once)]
"""Distinct names."""


def _several(columns: list[str]) -> list[str]:
    if len(columns) < 2:
        raise ValueError(f"columns that are guessed at once must be two or more, got {columns}")
    return columns


Targets = Annotated[list[str | Annotated[Names, AfterValidator(_several)]], AfterValidator(_once)]
"""What is guessed: columns each on its own; in brackets several at once."""


class Sql(Settings):
    """A query against a database."""

    url: str
    """SQLAlchemy URL with the driver written out, e.g. ``postgresql+psycopg://reader:${DB_PASSWORD}@host/db``;
    the environment variable ``SYNTHRISK_VARIABLES`` names the variables that may stand in it."""
    query: str
    """The SELECT whose rows are the table."""


class BuiltIn(Settings):
    """A built-in table that takes options."""

    name: str
    """Name of the table: adult, simulated_health, or a plugin's."""
    options: dict[str, Any] = {}
    """Options of that table, e.g. ``{rows: 1000, kappa: 10, seed: 3}``."""

    @model_validator(mode="after")
    def _options_are_known(self) -> "BuiltIn":
        source_function(self.name, self.options)
        return self


def _form(source: Any) -> str | None:
    if isinstance(source, str):
        return "<text>"
    if isinstance(source, BuiltIn) or (isinstance(source, Mapping) and {"name", "options"} & set(source)):
        return "<built in>"
    return "<query>" if isinstance(source, Sql | Mapping) else None


Source = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[Sql, Tag("<query>")] | Annotated[BuiltIn, Tag("<built in>")],
    Discriminator(
        _form,
        custom_error_type="source",
        custom_error_message="must be a name, a path or a URL, {url, query} or {name, options}",
    ),
]
"""Where a table comes from."""


class Data(Settings):
    """The real table and the roles of its columns."""

    source: Source
    """A built-in name (``adult``, ``simulated_health``), the path or fsspec URL of a file (CSV, JSON, Parquet, Feather;
    with the extra ``files`` Excel, OpenDocument, Stata, SPSS, SAS; ``survey.xlsx#Sheet``), ``openml:<id>``,
    ``{name, options}`` for a built-in table with options, or ``{url, query}`` for a database."""
    quasi_identifiers: Names | Literal["*"]
    """Columns that an attacker knows; ``"*"`` = all but the sensitive one (and the identifier)."""
    sensitive: Targets = Field(min_length=1)
    """Columns that an attacker guesses, each on its own; in brackets several that he guesses at once:
    ``[income, [income, race]]``."""
    categorical: list[str] = []
    """Numeric columns that are code lists."""
    identifier: str | None = None
    """Column that names the entity of a row: rows of one entity stay together, and are one where entities are counted;
    it is never synthesized and shown to no attack. A row without a name is an entity of its own."""
    drop: list[str] = []
    """Columns to leave out."""
    missing: Texts = []
    """Texts, also of numbers, that mean a missing cell in a file that is not Parquet, beside the empty cell."""
    columns: dict[str, Reading] = {}
    """How single columns are read: dates by their format, numbers with units, booleans in words, missing codes."""
    rows: int | None = Field(default=None, ge=2)
    """Take a random sample of this many rows; null takes all."""

    @property
    def title(self) -> str:
        """What the table is called: its built-in name, or the last part of its address without what follows ? or #."""
        if isinstance(self.source, Sql):
            return "a query"
        if isinstance(self.source, BuiltIn):
            return self.source.name
        return re.split(r"[?#]", self.source)[0].rstrip("/\\").replace("\\", "/").rpartition("/")[2] or "a table"

    @property
    def address(self) -> str:
        """Where the table comes from: a name, a path from the root, or an address without user, password and token."""
        if isinstance(self.source, BuiltIn):
            return self.source.name
        told = without_secrets(self.source.url if isinstance(self.source, Sql) else self.source)
        is_path = not re.match(r"\w[\w+.-]+:", told) and told not in points(SOURCE_GROUP).names
        return str(Path(told).expanduser().absolute()) if is_path else told

    @property
    def form(self) -> FileForm:
        """How the table is written in files."""
        left_out = [*self.drop, *([] if self.identifier is None else [self.identifier])]
        return FileForm(missing=tuple(self.missing), columns=self.columns, left_out=tuple(left_out))

    @property
    def targets(self) -> list[tuple[str, list[str]]]:
        """What each target is called, and its columns."""
        return [(name_of(target), columns_of(target)) for target in self.sensitive]

    @property
    def guessed(self) -> list[str]:
        """All columns that are guessed, alone or with others."""
        return list(dict.fromkeys(column for _, columns in self.targets for column in columns))

    @model_validator(mode="after")
    def _roles_are_apart(self) -> "Data":
        both = [c for c in self.quasi_identifiers if len(self.sensitive) == 1 and c in self.guessed]
        if both:
            raise ValueError(f"quasi_identifiers and sensitive must be different columns, got {both[0]!r} in both")
        return self


class Split(Settings):
    """Who is a member and who is held out: folds, or a holdout share, each several times."""

    folds: int | None = Field(default=None, ge=2)
    """K: the table is cut in K parts; each part is held out once a repetition. Default 5."""
    holdout: float | None = Field(default=None, gt=0, lt=1)
    """Share of the records held out, where a fit is dear: one release a repetition instead of K."""
    repetitions: int = Field(default=3, ge=1, le=10_000)
    """R: how often the table is cut anew."""
    stratify: str | None = None
    """Column whose levels are spread evenly over the parts."""
    duplicates: Literal["together", "report"] = "report"
    """Exact duplicates of a record: kept on one side of the split, or left as they fall and counted."""

    @model_validator(mode="before")
    @classmethod
    def _folds_or_holdout(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and values.get("folds") is None and values.get("holdout") is None:
            return {**values, "folds": 5}
        return values

    @model_validator(mode="after")
    def _only_one(self) -> "Split":
        if self.folds is not None and self.holdout is not None:
            raise ValueError(f"give folds or holdout, not both, got folds={self.folds} and holdout={self.holdout}")
        return self

    @property
    def releases(self) -> int:
        """Releases a repetition."""
        return self.folds or 1


class _Choice(Settings):
    """A name of a register with options: a name alone, or keys beside the model's own as options (``share: 0.1``)."""

    _default: ClassVar[str]  # the field that the name is the default of

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, values: Any) -> Any:
        given = {"name": values} if isinstance(values, str) else values
        if not isinstance(given, Mapping):
            raise ValueError(f"must be a name or a mapping of settings, got {values!r}")
        if not isinstance(given.get("options") or {}, Mapping):
            raise ValueError(f"options must be a mapping, got {type(given['options']).__name__}")
        own: dict[str, Any] = {k: v for k, v in given.items() if k in cls.model_fields}
        loose = {k: v for k, v in given.items() if k not in cls.model_fields}
        name = own.get(cls._default) or own.get("name", "")
        return {**own, cls._default: name, "options": {**(own.get("options") or {}), **loose}}


class SynthesizerChoice(_Choice):
    """One generator: a kind from the register with its options, under a name of its own."""

    _default = "kind"
    name: str = Field(pattern=GENERATOR_NAME, max_length=_LONGEST)
    """Name in tables and in MLflow; the kind too, unless ``kind`` is given."""
    kind: str = ""
    """Kind from the register: cart, gaussian_copula, ctgan, tvae, copulagan, files, callable, or a plugin's."""
    options: dict[str, Any] = {}
    """Options of that kind."""

    @model_validator(mode="after")
    def _kind_is_known(self) -> "SynthesizerChoice":
        known = sorted(points(SYNTHESIZER_GROUP).names)
        if self.kind not in known:
            raise ValueError(
                f"no synthesizer is called {self.kind!r}{nearest(self.kind, known)}; known: {', '.join(known)}"
            )
        return self


_Envelope = Literal["max", "mean", "record"]
Envelopes = Annotated[
    list[_Envelope],
    BeforeValidator(_one_or_more, json_schema_input_type=_Envelope | list[_Envelope]),
    AfterValidator(_once),
]


class WhatIf(Settings):
    """A change of the quasi-identifiers whose effect on the risk is previewed, on the same releases."""

    drop: list[str] = []
    """Quasi-identifiers that the attacker would not know."""
    bins: dict[str, Annotated[int, Field(ge=2, le=MOST_BINS)]] = {}
    """Quasi-identifiers in that many parts: numeric ones cut, of categorical ones the most frequent levels kept."""
    binning: Literal["quantile", "width"] = "quantile"
    """Parts of equal counts or of equal width."""
    noise: dict[str, Annotated[float, Field(gt=0, le=1)]] = {}
    """Numeric quasi-identifiers known with an error of up to that share of their range. Of the sensitive column it is
    noise on the release: on numbers by up to that share, of categories that share of the cells is drawn anew."""
    merge: dict[str, Annotated[int, Field(ge=2)] | dict[str, list[str | int | float | bool]]] = {}
    """Categorical quasi-identifiers known in groups: levels by new name, or so many with the rare ones put together."""

    @model_validator(mode="after")
    def _changes_something(self) -> "WhatIf":
        if not (self.drop or self.bins or self.noise or self.merge):
            raise ValueError(CHANGES_NOTHING)
        return self


_STUDY_MODES = ("match", "holdout", "cross_validated")


class MetricChoice(_Choice):
    """One metric of the study with its options."""

    _default = "label"
    name: str
    """Register name (``synthrisk metrics`` lists them)."""
    label: str = Field(default="", pattern=r"^[A-Za-z0-9_\-]*$", max_length=_LONGEST)
    """Name in keys and tables; the register name unless given. Needed where a metric is used twice."""
    quasi_identifiers: Names | Literal["*"] | None = None
    """What the attacker of this metric knows, where it is not ``data.quasi_identifiers``."""
    sensitive: Targets | None = None
    """What this metric guesses, where it is not ``data.sensitive``; in brackets several columns at once, for metrics
    that take several."""
    attackers: Names = []
    """Attacker models of metrics that train one, attacks of metrics of claims: each is scored on its own."""
    envelope: Envelopes = []
    """Measures of all ``attackers`` of ``rapid`` together, beside those of each: ``max``, the value of the model with
    the largest one (measure ``rapid_max``); ``mean``, the mean of their values (``rapid_mean``); ``record``, each
    record attacked by the model that gains most on it (``rapid_envelope``)."""
    what_if: list[WhatIf] = []
    """Changes of the quasi-identifiers to preview: each is a measure of its own on the same releases."""
    options: dict[str, Any] = {}
    """The metric's own options (threshold, tolerance, bins, ...)."""

    @property
    def labels(self) -> list[str]:
        """The names of its measures, one for each of ``attackers`` where there are several, without those of all."""
        return [label_of(self.label, a) for a in self.attackers] if len(self.attackers) > 1 else [self.label]

    @property
    def labels_together(self) -> list[str]:
        """The names of its measures of all ``attackers`` together."""
        return [label_of(self.label, envelope=each) for each in self.envelope]

    @model_validator(mode="after")
    def _metric_is_known(self) -> "MetricChoice":
        if self.name not in METRICS:
            raise ValueError(
                f"no metric is called {self.name!r}{nearest(self.name, METRICS)}; known: {', '.join(METRICS)}"
            )
        metric = METRICS[self.name]
        if not isinstance(self.options.get("attacker", ""), str):
            raise ValueError("attacker must be one model: list several as attackers, and give envelope beside them")
        if "envelope" in self.options:
            raise ValueError("envelope must stand beside attackers, got it among the options")
        if self.envelope and metric.study.together is None:
            raise ValueError(f"envelope must be left out where each attack stands alone, as of {self.name}")
        if self.envelope and len(self.attackers) < 2:
            raise ValueError(f"envelope needs at least two attackers, got {self.attackers}")
        if self.what_if and "quasi_identifiers" not in metric.needs:
            raise ValueError(f"what_if changes quasi_identifiers, which {self.name} does not use")
        if self.options.get("mode") in _STUDY_MODES:
            raise ValueError("a study runs all modes at once: risk is match, risk_control holdout or cross-validated")
        if "links" in self.options:
            raise ValueError("links belong to one release, and a study makes many: give them to hidden_rate itself")
        if self.attackers and "attacker" not in metric.choices:
            raise ValueError(
                f"attackers must be left out where no model attacks, as of {self.name}, got {self.attackers}"
            )
        for option in sorted(self.options):
            if option not in metric.choices:
                takes = list(metric.choices)
                hint = nearest(option, [*takes, *type(self).model_fields])
                raise ValueError(f"{self.name} takes no option {option!r}{hint}; it takes {takes}")
        absent = [option for option in metric.own_needs if self.options.get(option) is None]
        if absent:
            raise ValueError(f"{self.name} needs the options {', '.join(absent)}, got none")
        return self


class Bootstrap(Settings):
    """How intervals are made."""

    confidence: float = Field(default=0.9, gt=0, lt=1)
    """Confidence level of all intervals, which are those that verdicts are given by: at 0.9 a word is wrong at most one
    time in 20 at each end. Tests and comparisons of generators are at 0.95, whatever this is."""
    method: Literal["moderated", "crossed", "crossed_bootstrap", "records", "repetitions", "pigeonhole"] = "moderated"
    """Which interval is reported; all are written to the study's table of intervals. ``moderated`` needs four findings
    of a kind; with fewer it is ``crossed``."""
    resamples: int = Field(default=500, ge=100, le=1_000_000)
    """Resamples of the methods that resample."""
    vulnerable: float = Field(default=0.05, gt=0, lt=1)
    """Share of the records reported apart as vulnerable: those farthest from all others, and those of rare keys."""


def _shares(shares: list[float]) -> list[float]:
    if any(not 0 < share <= 1 for share in shares) or len(set(shares)) < len(shares):
        raise ValueError(f"shares must be distinct numbers in (0, 1], got {shares}")
    return sorted(shares)


class LeakyShares(Settings):
    """Which leak the study can see: releases of ``leaky`` at several shares run as further reference generators."""

    shares: Annotated[list[float], AfterValidator(_shares)] = Field(default=[0.01, 0.02, 0.05, 0.1], min_length=1)
    """Shares of training rows in the releases. One that a ``leaky`` of ``references`` has is not run twice."""


_TRY = "-try"


def try_name(name: str) -> str:
    """Return the name under which a try-out of a study is logged, so that it is not taken for the study.

    Example:
        >>> try_name("demo")
        'demo-try'
    """
    return name[: _LONGEST - len(_TRY)] + _TRY


NOT_SAID = "nobody has said"
"""Who chose a limit that was given as a number on the command line."""


class Threshold(Settings):
    """A limit, and who chose it."""

    value: float = Field(ge=-1, le=1)
    """The verdict is RISK where the interval lies above it."""
    source: str = "the study's author"
    """Where the limit comes from; the report prints it."""

    @model_validator(mode="before")
    @classmethod
    def _number_alone(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Threshold) else {"value": value}


def _counts(counts: Any) -> Any:
    given = counts if isinstance(counts, list | tuple) else []
    fit = [k == "all" or (isinstance(k, int) and not isinstance(k, bool) and k >= 1) for k in given]
    if not given or not all(fit) or len(set(given)) < len(given):
        raise ValueError(
            f"weakest_columns must be a list of distinct numbers of columns, each all or at least 1, got {counts!r}"
        )
    return counts


class Tracking(Settings):
    """Where results go in MLflow."""

    uri: Annotated[str | None, AfterValidator(lambda uri: uri or None)] = None
    """Tracking URI; null or empty: SQLite in the workspace."""
    block: str | None = Field(default=None, pattern=r"^[a-z0-9\-]+$")
    """Name of a Prefect block ``SynthriskTracking`` that holds the URI, in place of ``uri``: passwords stay there."""
    experiment: str | None = None
    """Experiment; null: the study's name."""
    records: Literal["hashed", "full", "none"] = "hashed"
    """Per-record artifacts: salted hashes and scores only; with guessed and true values (sensitive!); or none."""
    registry: bool = False
    """Whether each synthesizer becomes a version in MLflow's model registry, with the alias ``approved`` where the
    verdict is NO EVIDENCE under limits, ``candidate`` where it is INCONCLUSIVE or nothing was judged."""
    offline: bool = False
    """Ask no tracking server: what is to be logged is kept in the workspace until ``synthrisk log`` delivers it."""
    log_again: bool = False
    """Write runs anew where the experiment holds the same answer already; else its runs get the tag ``checked_again``,
    and nothing is written."""

    @model_validator(mode="after")
    def _one_address(self) -> "Tracking":
        if self.uri and self.block:
            raise ValueError(f"give uri or block, not both, got uri and block={self.block!r}")
        return self


_RUNNERS = ("processes", "dask")


class Runner(Settings):
    """Where cells are computed."""

    kind: str = "processes"
    """``processes`` of this machine, ``dask``, or any other task runner of Prefect by import path:
    ``package.module:Class``."""
    options: dict[str, Any] = {}
    """What a task runner that is given by import path is made with."""
    workers: int = Field(default=2, ge=1)
    """Processes at the same time."""
    address: str | None = None
    """Scheduler of an existing Dask cluster; null starts a local one."""
    retries: int = Field(default=0, ge=0)
    """How often a failed cell is tried again."""
    retry_delay: float = Field(default=0, ge=0, le=3600)
    """Seconds before it is tried again for the first time; twice as many before each further time, an hour at most."""
    time_limit: float | None = Field(default=None, gt=0)
    """Seconds that a release may take to be made, and again to be attacked; what takes longer has failed."""
    memory_limit: float | None = Field(default=None, gt=0)
    """Gigabytes that it may take, with all processes that it starts."""

    @property
    def is_ours(self) -> bool:
        """Whether it is one of those that the study sets up itself."""
        return self.kind in _RUNNERS

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        if kind not in _RUNNERS and not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", kind):
            known = ", ".join(repr(each) for each in _RUNNERS)
            raise ValueError(f"must be {known} or the import path of a task runner, package.module:Class, got {kind!r}")
        return kind

    @model_validator(mode="after")
    def _settings_are_of_the_kind(self) -> "Runner":
        if self.address and self.kind != "dask":
            raise ValueError(f"address belongs to kind dask, got kind {self.kind!r}")
        if self.options and self.is_ours:
            raise ValueError(f"options belong to a task runner given by import path, got kind {self.kind!r}")
        if "workers" in self.model_fields_set and not self.is_ours:
            raise ValueError(f"workers belongs to kinds {' and '.join(_RUNNERS)}, got kind {self.kind!r}: see options")
        return self


class Study(Settings):
    """A study: one real table, some synthesizers, the attacks on what they release, and what is too much."""

    name: str = Field(pattern=GENERATOR_NAME, max_length=_LONGEST)
    """Name of the study, and of its MLflow experiment."""
    data: Data
    split: Split = Split()
    synthesizers: list[SynthesizerChoice] = Field(min_length=1)
    """Generators to judge."""
    references: list[SynthesizerChoice] = Field(
        default_factory=lambda: [SynthesizerChoice(name=r, kind=r) for r in REFERENCES]
    )
    """Reference generators, whose answer is known: copy, near_copy, repelled, leaky, fresh, marginals, or a plugin's. A
    study in which they misbehave is INVALID; without copy and near_copy no verdict is NO EVIDENCE: nothing shows what
    the study sees."""
    reference_measures: Literal["all", "limited"] = "all"
    """What the reference generators are attacked with: all measures, or those alone that a limit names."""
    metrics: list[MetricChoice] = Field(min_length=1)
    """What is measured."""
    bootstrap: Bootstrap = Bootstrap()
    thresholds: Annotated[dict[str, Threshold], BeforeValidator(lambda v: {} if v is None else v)] = {}
    """The limits, under this name or ``limits``. ``<quantity>/<metric>[.<sensitive>][@<group>]``: limit, or
    ``{value, source}``; without the attribute it holds for all. Quantities: risk, risk_control, risk_gain,
    memorization, control_gain (the gain over control records), population_gain (over what real people who are not in
    the data give away), tpr (true-positive rate at a false-positive rate of 1 %) and tpr_at_0.001 of a membership
    measure. Groups: outliers, rare_keys, classes (the worst class of the sensitive attribute). No limit, no verdict."""
    population_yardstick: bool = True
    """Whether each measure that scores single members is taken with the held-out records in place of the release too,
    once for all synthesizers: what real non-members, the population, say of them. It costs one attack a repetition
    and fold, and no fit of a synthesizer."""
    power: LeakyShares | None = None
    """Run ``leaky`` at several shares, and say which leak is seen in four studies of five; null: reckon it from the
    copy's memorization. It costs one release and attack a share, repetition and fold."""
    weakest_columns: Annotated[
        list[Literal["all"] | Annotated[int, Field(ge=1)]],
        BeforeValidator(_counts),
        Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    ] = ["all", 1]
    """Over how many of an attack's columns, the weakest first, its GDA score is taken: ``all``, 1 (the worst case),
    or any number between. Each has a line in the report and in ``gda.json``."""
    exposure: bool = True
    """A page for each synthesizer that says who is at risk, and why. It holds values of the real table, and stays in
    the workspace unless ``tracking.records`` is full."""
    tracking: Tracking = Tracking()
    runner: Runner = Runner()
    workspace: str = Field(default=".synthrisk", min_length=1)
    """Folder for typed data, releases, ledgers and the embedded MLflow store; or a URL that machines without a common
    disk share: ``s3://bucket/folder``, ``file:///mnt/share/folder``."""
    seed: int = Field(default=1, ge=0)
    """Root of all randomness."""

    @property
    def weakest(self) -> tuple[int | None, ...]:
        """The numbers of ``weakest_columns``; None for all."""
        return tuple(None if k == "all" else k for k in self.weakest_columns)

    @model_validator(mode="before")
    @classmethod
    def _limits_are_thresholds(cls, values: Any) -> Any:
        if not isinstance(values, Mapping) or not isinstance(values.get("limits"), Mapping):
            return values
        own, others = values["limits"], values.get("thresholds") or {}
        if isinstance(others, Mapping) and (twice := [name for name in own if name in others]):
            raise ValueError(f"limits and thresholds are one setting, got {twice[0]!r} in both")
        rest = {name: value for name, value in values.items() if name != "limits"}
        return rest | {"thresholds": {**others, **own} if isinstance(others, Mapping) else others}

    @model_validator(mode="after")
    def _names_are_used_once(self) -> "Study":
        generators = [s.name for s in (*self.synthesizers, *self.references)]
        labels = [label for m in self.metrics for label in (*m.labels, *m.labels_together)]
        for what, key, names in (("synthesizers and references", "name", generators), ("metrics", "label", labels)):
            if twice := sorted({n for n in names if names.count(n) > 1}):
                rule = f"{what} must have distinct names, got {twice[0]!r} twice"
                raise ValueError(f"{rule}: give one a {key} of its own")
        for choice in self.metrics:
            hidden = choice.sensitive or self.data.sensitive
            both = [c for c in columns_of(hidden[0]) if len(hidden) == 1 and c in (choice.quasi_identifiers or ())]
            if both:
                raise ValueError(
                    f"quasi_identifiers and sensitive of metric {choice.label} must be different columns, "
                    f"got {both[0]!r} in both"
                )
        for each in (*self.synthesizers, *self.references):
            if NON_MEMBERS in (each.name, each.kind):
                raise ValueError(f"synthesizers and references must not be called {NON_MEMBERS!r}: it is the yardstick")
        return self
