"""Fair's survey of marriages (Fair 1978), the table of many CAP examples, as statsmodels ships it."""

import pandas as pd

from synthrisk.metrics.errors import InputError


def read_fair() -> pd.DataFrame:
    """Return the survey: 6,366 records, 9 numeric columns of which 7 are steps of a scale.

    Source: Fair, R. 1978, A Theory of Extramarital Affairs, Journal of Political Economy 86(1), 45-61.

    Raises:
        InputError: statsmodels is not installed.
    """
    try:
        from statsmodels.datasets import fair
    except ImportError:
        text = "table 'fair' comes with statsmodels, which is not installed: pip install 'synthrisk[fair]'"
        raise InputError(text) from None
    survey: pd.DataFrame = fair.load_pandas().data
    return survey


FAIR = read_fair
