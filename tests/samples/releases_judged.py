"""Members and control records in files, and what is judged of a release of them beside reference generators."""

from pathlib import Path

import pandas as pd

from synthrisk.conf.study import Data
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.attack import attack
from synthrisk.tasks.data.task import given
from synthrisk.tasks.estimate import estimate
from synthrisk.tasks.judge import judge
from synthrisk.tasks.synthesize.task import release, synthesize
from synthrisk.tasks.workspace.references import Sample


def cut_of(members: pd.DataFrame, control: pd.DataFrame, folder: Path, ending: str = "parquet", **roles) -> Sample:
    """Return the cut of two tables that are written to a folder first."""
    for name, table in (("real", members), ("control", control)):
        path = folder / f"{name}.{ending}"
        table.to_parquet(path) if ending == "parquet" else table.to_csv(path, index=False)
    data = Data(source=str(folder / f"real.{ending}"), **roles)
    table, cut = given.fn(data, str(folder / f"control.{ending}"), 1, str(folder))
    return Sample.of(data, table, cut, str(folder), 1)


def judged(cut: Sample, table: pd.DataFrame | str, measures, limits, others=()) -> StudyResult:
    """Return what is said of a release, called vendor, beside a copy and a near copy."""
    made = [release.fn(cut, table, name="vendor")]
    made += [synthesize.fn(cut, kind, role="reference") for kind in ("copy", "near_copy", *others)]
    return judge.fn(estimate.fn([attack.fn(each, measures) for each in made]), limits).result


def is_no_risk(result: StudyResult) -> bool:
    """Tell whether the release was judged and found to be no risk."""
    whole = not result.releases["vendor"].invalid
    return whole and result.verdict("vendor") not in ("RISK", "INVALID RELEASE", "FAILED")
