"""The attacker model lasso beside scikit-learn's saga, on the same penalties and folds: time, distance from optimum.

python benchmarks/lasso.py
"""

import warnings
from time import process_time

import numpy as np
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from synthrisk.metrics import Tables
from synthrisk.metrics.models.attackers import FOLDS, PENALTIES, LassoLogistic
from synthrisk.metrics.models.features import level_codes, one_hot
from synthrisk.tasks.data import read

ROWS = 10_000
SAGA = ((1e-3, 200), (1e-4, 1000))  # tolerance and most passes


def objective(probabilities_of: np.ndarray, coefficients: np.ndarray, codes: np.ndarray, penalty: float) -> float:
    """Return mean log loss plus penalty; two classes in one vector count as two halves, which sum to the same."""
    own = log_softmax(probabilities_of, axis=1)[np.arange(len(codes)), codes]
    return float(-own.mean() + penalty * np.abs(coefficients).sum())


def score(model: LogisticRegressionCV, rows: np.ndarray, target: np.ndarray) -> float:
    return -log_loss(target, model.predict_proba(rows), labels=model.classes_)


def compare(target: str) -> None:
    adult = read("adult").drop(columns="fnlwgt").sample(ROWS, random_state=0)
    tables = Tables(adult, adult)
    rows = one_hot(tables, [c for c in adult if c != target], list(adult)).synthetic
    codes = level_codes(tables, target, list(adult))[1]
    start = process_time()
    ours = LassoLogistic(0).fit(rows, codes)
    own_time = process_time() - start
    found = objective(rows @ ours.coef_ + ours.intercept_, ours.coef_, codes, ours.penalty_)
    print(f"{target}, {ROWS} x {rows.shape[1]}: ours {own_time:.1f} CPU s, objective {found:.7f}")
    truth = np.eye(codes.max() + 1)[codes]
    strongest = np.abs(rows.T @ (truth - truth.mean(axis=0))).max() / len(rows)
    for tolerance, passes in SAGA:
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = LogisticRegressionCV(
                Cs=1 / (len(rows) * strongest * PENALTIES),
                cv=StratifiedKFold(FOLDS, shuffle=True, random_state=0),
                l1_ratios=(1,),
                solver="saga",
                scoring=score,
                tol=tolerance,
                max_iter=passes,
                random_state=0,
                use_legacy_attributes=False,
            ).fit(rows, codes)
        time = process_time() - start
        logits = peer.decision_function(rows)
        logits = logits if logits.ndim == 2 else np.column_stack([-logits / 2, logits / 2])
        penalty = 1 / (len(rows) * float(np.ravel(peer.C_)[0]))
        value = objective(logits, peer.coef_, codes, penalty)
        same = "" if np.isclose(penalty, ours.penalty_) else f" (penalty {penalty / ours.penalty_:.2f} of ours)"
        print(
            f"  saga, tolerance {tolerance:g}, at most {passes} passes: {time:.1f} CPU s ({time / own_time:.1f}x), "
            f"objective {value:.7f}, {value - found:+.1e} from ours{same}"
        )


if __name__ == "__main__":
    for each in ("income", "marital_status"):
        compare(each)
