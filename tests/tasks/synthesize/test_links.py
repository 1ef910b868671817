import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.attack import attack
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize import Job, run
from synthrisk.tasks.synthesize.callable import CALLABLE
from synthrisk.tasks.synthesize.files import FILES
from synthrisk.tasks.synthesize.task import synthesize

RNG = np.random.default_rng(4)
PEOPLE = pd.DataFrame({"x": np.arange(60) * 10.0, "y": RNG.permutation(60) * 10.0, "c": RNG.choice(["u", "v"], 60)})
TRAIN = PEOPLE.head(6)
GENERATORS = """
import numpy as np
def moved(train, rows, seed):
    at = np.random.default_rng(seed).permutation(len(train))
    return train.iloc[at].reset_index(drop=True), np.where(at % 3 == 0, -1, at)
few = lambda train, rows, seed: (train, [0])
beyond = lambda train, rows, seed: (train, [len(train)] * rows)
texts = lambda train, rows, seed: (train, ["0"] * rows)
unsure = lambda train, rows, seed: (train, None)
"""
FORMS = [
    ("hidden_rate", {"projection": "famd"}),
    ("distance_to_closest_record", {"projection": "famd"}),
    ("close_value_probability", {"normalise": "all_pairs"}),
]


def job(releases: int = 1) -> Job:
    return Job(TRAIN, TRAIN.head(0), 6, 1, 0, 0, releases)


@pytest.fixture
def people(tmp_path):
    return sample.fn(PEOPLE, quasi_identifiers=["x"], sensitive=["c"], folds=2, workspace=str(tmp_path / "w"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "linked.py"
    path.write_text(GENERATORS)
    return path


def test_a_function_may_return_the_table_and_its_links(file):
    made = run(job(), CALLABLE, {"path": f"{file}:moved"})
    for row, link in enumerate(made.links):
        source = TRAIN.index[TRAIN["x"] == made.synthetic["x"].iloc[row]].item()
        assert link == (-1 if source % 3 == 0 else source)
    assert run(job(), CALLABLE, {"path": f"{file}:unsure"}).links is None


@pytest.mark.parametrize(("function", "sentence"), [
    ("few", "must name a real row for each of 6 synthetic rows, got 1"),
    ("beyond", "must be positions from 0 to 5 in the real table, or -1, got 6 to 6"),
    ("texts", "must be whole numbers, one a synthetic row, got 1 dimensions of <U1"),
])  # fmt: skip
def test_wrong_links_of_a_function_are_named(file, function, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        run(job(), CALLABLE, {"path": f"{file}:{function}"})
    assert str(caught.value).startswith("links of ")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_may_lie_beside_the_release(tmp_path, ending):
    path, links = tmp_path / f"0-0.{ending}", tmp_path / f"0-0-links.{ending}"
    told = pd.DataFrame({"row": [5, 4, -1, 2]})
    for table, place in ((TRAIN.tail(4), path), (told, links)):
        table.to_csv(place, index=False) if ending == "csv" else table.to_parquet(place)
    options = {"path": str(tmp_path / f"{{repetition}}-{{fold}}.{ending}")}
    options["links"] = str(tmp_path / f"{{repetition}}-{{fold}}-links.{ending}")
    assert run(job(4), FILES, options).links.tolist() == [5, 4, -1, 2]
    assert FILES.inputs(options, 0, 0) == [str(path), str(links)]
    assert run(job(4), FILES, {"path": options["path"]}).links is None


@pytest.mark.parametrize(("text", "releases", "sentence"), [
    ("row\n0\n1\n", 1, "must name a real row for each of 6 synthetic rows, got 2"),
    ("row\n" + "9\n" * 6, 1, "must be positions from 0 to 5 in the real table, or -1, got 9 to 9"),
    ("row\n" + "a\n" * 6, 1, "must be whole numbers, one a synthetic row, got 1 dimensions of object"),
    ("row,b\n" + "0,1\n" * 6, 1, "must lead to tables of one column, got 2 columns"),
    ("row\n" + "0\n" * 6, 4, r"links must stand beside a path with \{repetition\} and \{fold\}"),
])  # fmt: skip
def test_wrong_files_of_links_are_named(tmp_path, text, releases, sentence):
    TRAIN.to_csv(tmp_path / "release.csv", index=False)
    (tmp_path / "links.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        run(job(releases), FILES, {"path": str(tmp_path / "release.csv"), "links": str(tmp_path / "links.csv")})


def hidden_rate(people: pd.DataFrame, release: pd.DataFrame, links: np.ndarray) -> list[float]:
    """Return the credit of each real record by a plain loop over pairs, NaN where no row was made from it."""
    center, spread = people[["x", "y"]].mean(), people[["x", "y"]].std(ddof=0)
    share = people["c"].value_counts(normalize=True)

    def away(a: pd.Series, b: pd.Series) -> float:
        words = (1 / (share[a["c"]] * (1 - share[a["c"]])) + 1 / (share[b["c"]] * (1 - share[b["c"]]))) ** 0.5
        numbers = sum((((a[k] - center[k]) - (b[k] - center[k])) / spread[k]) ** 2 for k in ("x", "y"))
        return float((numbers + (words**2 if a["c"] != b["c"] else 0.0)) ** 0.5)

    credits = []
    for i in range(len(people)):
        if i not in links:
            credits.append(float("nan"))
            continue
        distances = [away(people.iloc[i], release.iloc[k]) for k in range(len(release))]
        tied = [k for k, d in enumerate(distances) if d <= min(distances) * (1 + 1e-9)]
        credits.append(sum(links[k] == i for k in tied) / len(tied))
    return credits


@pytest.mark.parametrize(("kind", "fold"), [("copy", 0), ("near_copy", 1), ("callable", 0), ("callable", 1)])
def test_a_study_takes_the_hidden_rate_of_them(people, file, kind, fold):
    options = {"path": f"{file}:moved"} if kind == "callable" else {}
    role = "synthesizer" if kind == "callable" else "reference"
    made = synthesize.fn(people, kind, fold=fold, role=role, name="mine", **options)
    links, held_out = made.links(), people.held_out(0, fold)
    assert not np.isin(np.flatnonzero(held_out), links).any()
    ledger = attack.fn(made, ["hidden_rate"])
    rows = ledger.ledger().sort_values("record")
    due = hidden_rate(PEOPLE, made.synthetic(), links)
    np.testing.assert_allclose(rows["score"].astype(float), due, rtol=1e-9)
    said = ledger.values()["hidden_rate"]
    assert said.members["linked"] == pytest.approx(np.mean(np.isin(np.flatnonzero(~held_out), links)))
    assert said.reasons.members == ""
    assert np.nanmean(due) > 0.5


def test_a_study_takes_the_sources_own_forms_too_and_says_where_there_are_no_links(people):
    made = synthesize.fn(people, "near_copy", role="reference", name="mine")
    asked = [{"name": name, **option} for name, option in FORMS]
    ledger, given = attack.fn(made, asked), Tables(PEOPLE, made.synthetic(), links=made.links())
    for name, option in FORMS:
        column = METRICS[name].records.contribution
        rows = ledger.of(Measure(name, name), ["record", column]).sort_values("record")
        due, plain = METRICS[name].score(given, **option), METRICS[name].score(given)
        np.testing.assert_allclose(rows[column].astype(float), due.records[column], rtol=1e-9)
        assert not due.records.equals(plain.records)
    made = synthesize.fn(people, "marginals", role="reference", name="mine")
    assert made.links() is None
    assert "no row link" in attack.fn(made, ["hidden_rate"]).values()["hidden_rate"].reasons.members
