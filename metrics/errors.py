"""The one exception that tells a user what is wrong with an argument.

Names that people bring from other tools, and what each is called here: metrics, attacker models, arguments.

One table for all: hints in errors (``errors.nearest``), ``synthrisk metrics NAME`` and docs/elsewhere.md.
"""

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches
from math import inf, nextafter
from numbers import Integral, Real
from typing import cast

METRICS_ELSEWHERE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "SDMetrics": {
        "categorical_cap": ("CategoricalCAP", "CAP"),
        "zero_cap": ("CategoricalZeroCAP",),
        "generalized_cap": ("CategoricalGeneralizedCAP",),
        "disclosure_protection": ("DisclosureProtection", "DisclosureProtectionEstimate"),
        "rapid": (
            *("CategoricalKNN", "CategoricalNB", "CategoricalRF", "CategoricalSVM", "CategoricalEnsemble"),
            *("NumericalLR", "NumericalMLP", "NumericalSVR", "NumericalRadiusNearestNeighbor"),
        ),
        "common_rows_proportion": ("NewRowSynthesis",),
        "distance_to_closest_record": ("DCRBaselineProtection", "DCROverfittingProtection", "DCR"),
        "detection_mlp": ("LogisticDetection", "SVCDetection"),
        "coverage": ("CategoryCoverage", "RangeCoverage"),
        "quality": ("QualityReport", "KSComplement", "TVComplement", "CorrelationSimilarity", "ContingencySimilarity"),
        "train_synthetic_test_real": (
            *("BinaryAdaBoostClassifier", "BinaryDecisionTreeClassifier", "BinaryLogisticRegression"),
            *("BinaryMLPClassifier", "MulticlassDecisionTreeClassifier", "MulticlassMLPClassifier"),
            *("LinearRegression", "MLPRegressor"),
        ),
    },
    "PrivEval": {
        "zero_cap": ("ZCAP",),
        "generalized_cap": ("GCAP",),
        "attribute_inference_risk": ("AIR",),
        "common_rows_proportion": ("CRP",),
        "close_value_probability": ("CVP",),
        "distant_value_probability": ("DVP",),
        "detection_mlp": ("D-MLP", "DMLP"),
        "authenticity": ("Auth",),
        "identifiability_score": ("IDS", "IdScore"),
        "nearest_synthetic_neighbour_distance": ("NSND",),
        "nearest_neighbour_distance_ratio": ("NNDR",),
        "distance_to_closest_record": ("DCR",),
        "median_distance_to_closest_record": ("MDCR",),
        "nearest_neighbour_adversarial_accuracy": ("NNAA",),
        "membership_inference_risk": ("MIR",),
        "hidden_rate": ("HidR",),
        "hitting_rate": ("HitR",),
    },
    "Anonymeter": {
        "singling_out": ("SinglingOutEvaluator",),
        "linkability": ("LinkabilityEvaluator",),
        "inference": ("InferenceEvaluator",),
    },
    "RAPID": {
        "rapid": ("RCS", "RCS_marginal", "rapid_synthesizer_cv", "RAPID_max", "RAPID_mean"),
        "categorical_cap": ("DCAP",),
    },
    "GDA Score": {
        "inference": ("confidence improvement", "claim probability", "susceptibility", "prior knowledge", "work"),
        "linkability": ("linkability attack",),
        "singling_out": ("singling out attack",),
    },
    "synthpop": {
        "attribute_disclosure": ("repU", "iS", "DiS", "DiSCO", "DiSDiO"),
        "targeted_cap": ("TCAP",),
    },
    "SynthEval": {
        "median_distance_to_closest_record": ("MedianDistanceToClosestRecord", "median_DCR"),
        "nearest_neighbour_distance_ratio": ("NNDR",),
        "nearest_neighbour_adversarial_accuracy": ("NNAA",),
        "hitting_rate": ("hit_rate",),
        "identifiability_score": ("eps_risk", "eps_identif_risk"),
        "membership_inference_risk": ("mia_risk", "mia_cls_risk"),
        "rapid": ("attr_discl_cats", "att_discl_risk"),
    },
    "mostlyai-qa": {
        "common_rows_proportion": ("ims_training", "imsTraining"),
        "distance_to_closest_record": ("dcr_training", "dcr_share", "dcrTraining", "dcrShare", "DCR"),
        "nearest_neighbour_distance_ratio": ("nndr_training", "nndrTraining"),
    },
    "SDNist": {
        "unique_exact_matches": ("Unique Exact Matches",),
        "apparent_match_rate": ("Apparent Match Distribution",),
        "attribute_disclosure": ("KDiscoEvaluator",),
    },
}
"""By tool: our metric, and the tool's names of what it measures."""

TOOLS_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "SDNist": ("NIST",),
    "mostlyai-qa": ("mostlyai", "MOSTLY AI"),
    "GDA Score": ("GDA", "General Data Anonymity Score"),
}
"""By tool: what else people call it."""

NO_MEASURES: Mapping[str, str] = {
    "k-anonymity": "How many share each key, in the real table and in each release",
    "l-diversity": "How many sensitive values each key class holds, in the real table and in each release",
}
"""What is told of each study beside its measures."""

ARGUMENTS_ELSEWHERE: Mapping[str, Mapping[tuple[str, ...], tuple[str, ...]]] = {
    "SDMetrics": {
        ("quasi_identifiers",): ("key_fields", "known_column_names"),
        ("sensitive",): ("sensitive_fields", "sensitive_column_names"),
        ("real",): ("real_data", "real_training_data"),
        ("synthetic",): ("synthetic_data",),
        ("control",): ("real_validation_data",),
        ("num_bins", "bins"): ("num_discrete_bins",),
        ("continuous",): ("continuous_column_names",),
        ("method",): ("computation_method",),
    },
    "PrivEval": {("quasi_identifiers",): ("key_attributes",), ("sensitive",): ("sensitive_attributes",)},
    "Anonymeter": {
        ("real",): ("ori",),
        ("synthetic",): ("syn",),
        ("quasi_identifiers", "columns_a"): ("aux_cols",),
        ("sensitive",): ("secret",),
        ("attempts",): ("n_attacks",),
        ("neighbours",): ("n_neighbors",),
    },
    "RAPID": {
        ("real",): ("original_data",),
        ("synthetic",): ("synthetic_data",),
        ("sensitive",): ("sensitive_attribute",),
        ("attacker", "attackers"): ("model_type", "forest"),
        ("threshold",): ("cat_tau",),
        ("tolerance",): ("num_epsilon",),
        ("delta",): ("num_delta",),
        ("error",): ("num_error_metric",),
    },
    "synthpop": {("quasi_identifiers",): ("keys",), ("sensitive",): ("target",)},
    "sdcMicro": {("quasi_identifiers",): ("keyVars",), ("sensitive",): ("sensibleVar",)},
}
"""By tool: our argument (the first of these that a metric or command takes), and the tool's names of it."""


MODELS_ELSEWHERE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "RAPID": {"random_forest": ("rf",), "gradient_boosting": ("gbm",), "logistic": ("logit",), "linear": ("lm",)},
}
"""By tool: our attacker model, and the tool's names of it."""


def plain(name: str) -> str:
    """Return a name without capitals, blanks and marks, in British spelling: in which names are compared.

    Example:
        >>> plain("D-MLP"), plain("Nearest Neighbor Distance Ratio"), plain("--key-fields")
        ('dmlp', 'nearestneighbourdistanceratio', 'keyfields')
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum()).replace("neighbor", "neighbour")


_OURS: dict[str, tuple[str, ...]] = {}

for _arguments in ARGUMENTS_ELSEWHERE.values():
    for _own, _theirs in _arguments.items():
        _OURS |= {plain(name): _own for name in _theirs}

for _tool in (*METRICS_ELSEWHERE.values(), *MODELS_ELSEWHERE.values()):
    for _metric, _theirs in _tool.items():
        _OURS |= {plain(name): (_metric,) for name in _theirs}


def ours(name: str, known: Iterable[str]) -> str | None:
    """Return which of the ``known`` names is meant by a name of another tool, or by a known one written otherwise.

    A measure of a study, ``zero_cap.income``, is known by its metric, too.

    Example:
        >>> ours("CategoricalZeroCAP", ["zero_cap", "rapid"]), ours("key_fields", ["--quasi-identifiers"])
        ('zero_cap', '--quasi-identifiers')
        >>> ours("ZeroCAP", ["zero_cap"]), ours("ZCAP", ["rapid"]), ours("ZCAP", ["zero_cap.income"])
        ('zero_cap', None, 'zero_cap.income')
    """
    asked, known = plain(name), list(known)
    named = {plain(k.partition(".")[0]): k for k in reversed(known)} | {plain(k): k for k in known}
    return next((named[plain(own)] for own in (asked, *_OURS.get(asked, ())) if plain(own) in named), None)


def arguments_called(name: str) -> list[str]:
    """Return our arguments that another tool calls so, or that are written otherwise.

    Example:
        >>> arguments_called("key_fields"), arguments_called("aux_cols"), arguments_called("ZCAP")
        (['quasi_identifiers'], ['quasi_identifiers', 'columns_a'], [])
    """
    every = {own for arguments in ARGUMENTS_ELSEWHERE.values() for several in arguments for own in several}
    return [own for own in _OURS.get(plain(name), (name,)) if own in every]


def tool_called(name: str) -> str | None:
    """Return the tool that is called so, None where none is.

    Example:
        >>> tool_called("NIST"), tool_called("MostlyAI"), tool_called("sdmetrics"), tool_called("rapids")
        ('SDNist', 'mostlyai-qa', 'SDMetrics', None)
    """
    named = {tool: (tool, *TOOLS_ELSEWHERE.get(tool, ())) for tool in METRICS_ELSEWHERE}
    return next((tool for tool, own in named.items() if plain(name) in map(plain, own)), None)


def tools_with(name: str) -> list[str]:
    """Return the tools that call a metric or an argument so.

    Example:
        >>> tools_with("ZCAP"), tools_with("synthetic_data"), tools_with("zero_cap")
        (['PrivEval'], ['SDMetrics', 'RAPID'], [])
    """
    said = {tool: [*metrics.values()] for tool, metrics in METRICS_ELSEWHERE.items()}
    for tool, arguments in ARGUMENTS_ELSEWHERE.items():
        said.setdefault(tool, []).extend(arguments.values())
    return [tool for tool, every in said.items() if plain(name) in {plain(n) for names in every for n in names}]


ABOVE_0, BELOW_1 = nextafter(0, 1), nextafter(1, 0)
"""The ends of (0, 1) for ``check_range``."""


class InputError(ValueError):
    """Wrong input, said in one sentence: the argument, the rule, and what was got.

    Its text never holds a cell of the real table: only names, types, counts and settings.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the known name nearest to ``name``, or an empty string.

    A name is near where another tool calls the same so, and where it is mistyped (most letters are the same, more of
    them where the first is another), written in other capitals, or cut short.

    Example:
        >>> nearest("aeg", ["age", "wage"]), nearest("kart", ["cart"]), nearest("colour", ["holdout", "columns"])
        (" (did you mean 'age'?)", " (did you mean 'cart'?)", '')
        >>> nearest("key_fields", ["sensitive", "quasi_identifiers"])
        " (did you mean 'quasi_identifiers'?)"
    """
    known = list(known)
    if (own := ours(name, known)) is not None:
        return f" (did you mean {own!r}?)"
    names = {k.strip().casefold(): k for k in reversed(known)}
    low = name.strip().casefold()
    close = [k for k in get_close_matches(low, names, n=3, cutoff=0.65) if k[:1] == low[:1] or _is_near(low, k)]
    close = close or [k for k in names if len(low) > 2 and k.startswith(low)]
    return f" (did you mean {names[close[0]]!r}?)" if close else ""


def _is_near(name: str, other: str) -> bool:
    return SequenceMatcher(None, other, name).ratio() >= 0.75


def is_whole(value: object, low: float, high: float = float("inf")) -> bool:
    """Tell whether a value is a whole number inside [``low``, ``high``]; a boolean is none.

    Example:
        >>> is_whole(3, 1), is_whole(True, 1), is_whole(3.0, 1), is_whole(0, 1)
        (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return low <= int(value) <= high


def check_range(name: str, value: object, low: float, high: float, rule: str) -> float:
    """Return ``value`` as a float inside [``low``, ``high``]; ``rule`` says the range in words."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= cast(float, value) <= high:
        raise InputError(f"{name} must be {rule}, got {value!r}")
    return float(value)


def type_of(value: object) -> str:
    """Return what a value is, with its library where pandas has something of that name.

    Example:
        >>> type_of([1])
        'list'
    """
    name, library = type(value).__name__, type(value).__module__.partition(".")[0]
    return f"{name} of {library}" if name in ("DataFrame", "Series") and library != "pandas" else name


def check_whole(name: str, value: object, low: int, high: float = inf, rule: str = "") -> None:
    """Refuse what is no whole number inside [``low``, ``high``]; ``rule`` says the range in words."""
    if not is_whole(value, low, high):
        raise InputError(f"{name} must be {rule or f'a whole number of at least {low}'}, got {value!r}")


def check_up_to(name: str, value: object, most: int | None, what: str) -> None:
    """Refuse what is no whole number from 1 to ``most``, the number of ``what``; None: to any number."""
    limit = "at least 1" if most is None else f"1 to the number of {what}, {most}"
    check_whole(name, value, 1, inf if most is None else most, f"a whole number, {limit}")


def check_word(name: str, value: object, *known: str) -> None:
    """Refuse what is none of some words."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} must be {', '.join(known[:-1])} or {known[-1]}, got {value!r}")
