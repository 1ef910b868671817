"""How columns are read: releases that are written otherwise than the real table."""

import pandas as pd

from synthrisk.conf.tables import Reading
from synthrisk.tasks.workspace.files.readings import read_as, released

COMMAS = Reading(type="number", decimal=",", otherwise="missing")


def test_what_is_no_number_is_missing():
    read = read_as(pd.Series(["61,5", "n.b.", "7"], name="pay"), COMMAS)
    assert read.tolist()[::2] == [61.5, 7.0]
    assert read.isna().tolist() == [False, True, False]


def test_a_release_written_otherwise_is_not_emptied():
    """Its cells would all be missing, and a release that shows nothing leaks nothing."""
    pay = [f"{i}.5" for i in range(100)]
    assert released(pd.DataFrame({"pay": pay}), {"pay": COMMAS})["pay"].tolist() == pay
    days = Reading(type="date", format="%d.%m.%Y", otherwise="missing")
    born = ["1970-01-02"] * 50
    assert released(pd.DataFrame({"born": born}), {"born": days})["born"].tolist() == born


def test_a_release_written_alike_is_read_alike():
    release = pd.DataFrame({"pay": ["61,5"] * 99 + ["n.b."]})
    read = released(release, {"pay": COMMAS})["pay"]
    assert (read.iloc[0], int(read.isna().sum())) == (61.5, 1)
