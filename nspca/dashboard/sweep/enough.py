"""Find the number of features from which a curve hardly rises, and the k at which the page Sweep opens."""

import pandas as pd

from nspca.result import knee

READABLE = 20
"""Most features of the component that the page opens on, as many as a person can look at one by one."""


def plateau(table: pd.DataFrame, n: int) -> int | None:
    """Return the k from which the curve hardly rises, or None for a curve that may rise further.

    A curve up to fewer than all n features may end anywhere. It must then show twice as many features as k.
    """
    k, last = knee(table), int(table["k"].max())
    return k if k < last and (last == n or 2 * k <= last) else None


def first_k(table: pd.DataFrame, n: int) -> int:
    """Return the k at which the page opens: the plateau, or as many features as a person can look at.

    The last k of the curve is never that, since its end says the least about what is enough.
    """
    k, ks = plateau(table, n), sorted({int(k) for k in table["k"]})
    if k is not None and k <= READABLE:
        return k
    return max((k for k in ks[:-1] if k <= READABLE), default=ks[0])
