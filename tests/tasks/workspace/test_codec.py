"""Results come back from their JSON to the bit, whatever fields they have, had, or will have."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.judged import judged_study
from samples.studies import judged
from synthrisk.conf.study import Bootstrap, Tracking
from synthrisk.conf.tables import FileForm, Reading
from synthrisk.metrics.intervals.estimates import Estimate, Prior, Variances
from synthrisk.metrics.intervals.value_scale import MetricTransform, ValueScale
from synthrisk.metrics.study.ledger import Measure, Planned
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.verdicts.references import Check
from synthrisk.tasks.workspace.records import as_json, from_text
from synthrisk.tasks.workspace.references import Judged


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


@given(st.floats(), st.floats(), st.floats())
def test_numbers_come_back_to_the_bit(value, lower, upper):
    parts = Variances(value, lower, upper, 3, 2, Prior(20.0, value))
    found = Estimate(value, lower, upper, "moderated", "note", parts, lower, ValueScale(value, upper))
    again = from_text(Estimate, as_json(Estimate, found))
    for one, other in (
        (found, again),
        (parts, again.parts),
        (found.scale, again.scale),
        (parts.prior, again.parts.prior),
    ):
        for name, number in vars(one).items():
            if isinstance(number, float) and not np.isnan(number):
                assert bits(getattr(other, name)) == bits(number)
            elif isinstance(number, float):
                assert np.isnan(getattr(other, name))
    assert repr(again) == repr(found)


def test_a_transform_is_kept_by_the_name_of_its_metric():
    found = ValueScale(0.0, 1.0, MetricTransform("distance_to_closest_record"))
    text = as_json(ValueScale, found)
    assert json.loads(text)["transform"] == {"metric": "distance_to_closest_record"}
    again = from_text(ValueScale, text)
    assert (again, again.value(0.5)) == (found, found.value(0.5))


def test_numbers_of_numpy_are_numbers():
    check = Check("copy", "all", "sees", np.bool_(True), "it does")
    power = Power(np.float64(0.01), np.float64("inf"), ((np.float32(0.5), np.bool_(False)),))
    planned = Planned(
        Measure("a", "rapid"), {"threshold": np.float64("nan"), "bins": np.array([1, 2]), "n": np.int64(3)}
    )
    assert from_text(Check, as_json(Check, check)) == check
    assert from_text(Power, as_json(Power, power)) == Power(0.01, float("inf"), ((0.5, False),))
    options = from_text(Planned, as_json(Planned, planned)).options
    assert (options["bins"], options["n"], np.isnan(options["threshold"])) == ([1, 2], 3, True)


def test_what_options_hold_that_is_no_plain_value_is_its_text():
    planned = Planned(Measure("a", "rapid"), {"attacker": Measure})
    assert from_text(Planned, as_json(Planned, planned)).options == {"attacker": str(Measure)}


def test_a_whole_study_comes_back():
    found = judged(judged_study(warnings=("mind",), leaked={"leaky": 0.1}))
    again = from_text(Judged, as_json(Judged, found))
    assert as_json(Judged, again) == as_json(Judged, found)
    assert again.result.verdict("cart") == found.result.verdict("cart") == "RISK"
    assert (again.estimated.sample, again.estimated.settings) == (found.estimated.sample, found.estimated.settings)
    assert vars(again.result).keys() == vars(found.result).keys()


@pytest.mark.parametrize(
    "settings",
    [
        Bootstrap(confidence=0.9),
        Tracking(uri="http://me:${PASSWORD}@host", records="none"),
        FileForm(columns={"a": Reading(type="number", unit="%"), "b": Reading(type="date", format="%d.%m.%Y")}),
    ],
    ids=lambda each: type(each).__name__,
)
def test_settings_come_back_with_what_was_given_and_what_was_not(settings):
    again = from_text(type(settings), as_json(type(settings), settings))
    assert again == settings
    assert again.model_fields_set == settings.model_fields_set


@dataclass(frozen=True)
class _Later:
    """What a later version may make of a measure."""

    label: str
    looks: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: {"none": ()})
    word: str = "CANNOT TELL"


def test_a_field_that_a_file_lacks_takes_its_default_and_one_too_much_is_left_out():
    Earlier = make_dataclass("Earlier", [("label", str), ("gone", float)], frozen=True)
    text = as_json(Earlier, Earlier("cap", float("nan")))
    assert from_text(_Later, text) == _Later("cap")
    assert from_text(Measure, '{"label": "cap", "metric": "zero_cap", "of_tomorrow": {"a": [NaN]}}') == Measure(
        "cap", "zero_cap"
    )


def test_settings_of_tomorrow_are_left_out_of_settings_too():
    text = '{"uri": "sqlite:///x.db", "proxy": "p", "records": "none", "tls": {"a": 1}}'
    assert from_text(Tracking, text) == Tracking(uri="sqlite:///x.db", records="none")
    form = '{"columns": {"a": {"type": "number", "unit": "%", "locale": "de"}}}'
    assert from_text(FileForm, form) == FileForm(columns={"a": Reading(type="number", unit="%")})


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"label": 3}', '{"metric": "zero_cap"}'])
def test_what_is_no_such_value_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        from_text(Measure, text)
