"""Measure the stability of features: how well draws of the rows agree on them, beyond chance.

Two random choices of k out of n features share k^2 / n features on average, which is many when k is large.
The measure of Nogueira, Sechidis & Brown (JMLR 2018, eq. 4) corrects for that: one minus the variance of the
choices over the variance of random choices of the same size. It is 1 for equal choices and 0 for random ones.
The standard error comes from leaving out each draw in turn (jackknife). `choice` and `specs.stability` call
these functions.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from nspca.covariance.linalg import Array

Features = NDArray[np.int64]

NO_CHANCE = 1e-12
"""Variance up to which a choice counts as one of all features or none, whose agreement is undefined."""


def draws(m: int, count: int, seed: int) -> Iterator[Features]:
    """Yield `count` draws of m row numbers with replacement, each sorted."""
    for b in range(count):
        yield np.sort(np.random.default_rng([seed, b]).integers(0, m, m))


def matched(X: Array, Y: Array) -> tuple[Features, Array]:
    """Match columns of X (n, r) to columns of Y (n, r) so that the sum of ``|x'y|`` is largest.

    Returns the matched column of Y for each column of X, and ``|x'y|`` of each pair.
    """
    common = np.abs(X.T @ Y)
    order = linear_sum_assignment(-common)[1]
    return order, common[np.arange(len(order)), order]


def agreement(draws: Sequence[Sequence[Features]], n: int) -> tuple[float, float]:
    """Return the agreement of draws beyond chance, and its standard error.

    Parameters
    ----------
    draws : for each draw the features of each component, matched components at the same position
    n : number of features

    Returns
    -------
    value, error : float
        The mean over the components; nan where all n features or none are chosen, and for too few draws.
    """
    B = len(draws)
    used = np.unique(np.concatenate([features for draw in draws for features in draw]))
    F = np.array([[np.isin(used, features) for features in draw] for draw in draws], dtype=float)
    sums = F.sum(axis=0)
    value = float(_agreement(sums, B, n).mean())
    if B < 3:
        return value, float("nan")
    without = _agreement(sums - F, B - 1, n).mean(axis=-1)
    return value, float(np.sqrt((B - 1) / B * np.square(without - without.mean()).sum()))


def _agreement(sums: Array, B: int, n: int) -> Array:
    """Return the stability (...) from how many of B draws chose a feature, `sums` (..., features) of n."""
    if B < 2:
        return np.full(sums.shape[:-1], np.nan)
    p = sums / B
    size = p.sum(axis=-1) / n
    chance = size * (1 - size)
    open_ = chance > NO_CHANCE
    spread = B / (B - 1) * (p * (1 - p)).sum(axis=-1) / n
    return np.where(open_, 1 - spread / np.where(open_, chance, 1.0), np.nan)
