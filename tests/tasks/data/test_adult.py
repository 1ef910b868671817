from pathlib import Path

import synthrisk.tasks.data
from synthrisk.tasks.data import read


def test_shipped_table_is_the_published_one():
    adult = read("adult")
    assert adult.shape == (32561, 15)
    assert adult.income.value_counts().to_dict() == {"<=50K": 24720, ">50K": 7841}
    assert int(adult.duplicated().sum()) == 24
    missing = adult.isna().sum()
    assert missing[missing > 0].to_dict() == {"workclass": 1836, "occupation": 1843, "native_country": 583}
    assert (int(adult.age.min()), int(adult.age.max()), int(adult.fnlwgt.sum())) == (17, 90, 6179373392)


def test_texts_have_no_blanks_around_and_levels_are_sorted():
    for _, column in read("adult").select_dtypes("category").items():
        levels = column.cat.categories.tolist()
        assert levels == sorted(level.strip() for level in levels)


def test_the_credit_is_shipped():
    folder = Path(synthrisk.tasks.data.__file__).parent
    credit = (folder / "CREDIT.md").read_text(encoding="utf-8")
    for part in ("Becker", "Kohavi", "10.24432/C5XW20", "CC BY 4.0", "Changes made"):
        assert part in credit
    assert (folder / "adult.parquet").stat().st_size < 1_000_000
