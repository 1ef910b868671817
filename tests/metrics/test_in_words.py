import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.catalogue import in_words


@pytest.mark.parametrize("name", [n for n in METRICS if METRICS[n].function.__module__.startswith("synthrisk.")])
def test_every_metric_of_ours_is_told_in_plain_words(name):
    told = in_words(METRICS[name])
    first = (METRICS[name].function.__doc__ or "").strip().splitlines()[0]
    assert told != first
    assert told.endswith(".")
    assert not {"argmin", "AUC", "sigmoid", "Hamming"} & set(told.split())


def test_a_metric_of_somebody_else_is_told_by_its_docstring():
    class Theirs:
        name = "theirs"

        @staticmethod
        def function():
            """Share of equal cells.

            More of it.
            """

    class Silent:
        name = "silent"

        @staticmethod
        def function():
            pass

    assert (in_words(Theirs()), in_words(Silent())) == ("Share of equal cells.", "")
