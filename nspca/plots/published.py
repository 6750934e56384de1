"""Bounds of the 2014 paper beside ours: the published one, which holds with a probability, and its exact
form, which is proved.

Figures of sweeps and the section about a proof replace our bound in the rows of a sweep by one of these.
"""

import math

import numpy as np
import pandas as pd

KINDS = {
    "epsnet": "the value of the 2014 paper's eps-net over 1 − eps, plus the next eigenvalue",
    "rank-3": "the exact form of the 2014 paper's: the optimum of the rank-3 part plus the next eigenvalue",
    "l1": "the leading eigenvalue, which is the better bound here",
}
COLUMNS = ("upper_rank3", "upper_epsnet", "epsnet_probability")
FAILED = 1e-9
"""Share by which a component must pass a bound to show that it has failed: less is rounding."""


def with_paper_bound(frame: pd.DataFrame, ceiling: float = math.inf) -> pd.DataFrame:
    """Return rows of a sweep with the 2014 paper's bound in place of ours.

    The `ceiling` is the leading eigenvalue, which is proved and takes over where it is lower, and where a
    component shows that the bound failed. The rows get ``upper, ratio`` (rounded down), ``kind`` (a key of
    `KINDS`) and ``probability``, NaN where it is certain.
    """
    value, probability = frame["value"].astype(float), frame["epsnet_probability"].astype(float)
    upper = frame["upper_epsnet"].astype(float).where(probability.notna())
    failed = value.groupby(frame["k"]).transform("max") > upper * (1 + FAILED)
    rows = _replace_bound(frame, upper.mask(failed, math.inf), ceiling, "epsnet")
    return rows.assign(probability=probability.where(rows["kind"] == "epsnet"))


def with_rank3_bound(frame: pd.DataFrame, ceiling: float = math.inf) -> pd.DataFrame:
    """Return rows of a sweep with the exact form of the paper's bound (column ``upper_rank3``), which is
    proved, in place of ours. The rest is as in `with_paper_bound`.
    """
    return _replace_bound(frame, frame["upper_rank3"].astype(float), ceiling, "rank-3").assign(
        probability=math.nan
    )


def _replace_bound(frame: pd.DataFrame, upper: pd.Series, ceiling: float, kind: str) -> pd.DataFrame:
    """Return the rows with another bound, cut at the ceiling, and with its ratios and kinds."""
    kinds = np.where(upper > ceiling, "l1", kind)
    upper = upper.clip(upper=ceiling).replace(math.inf, math.nan)
    ratio = np.nextafter(frame["value"].astype(float) / upper.where(upper > 0), 0.0).clip(upper=1.0)
    return frame.assign(upper=upper, ratio=ratio, kind=kinds)
