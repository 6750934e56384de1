"""Cross-validation of components: the share of variance that they explain of held-out rows, for `choice`."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nspca.components import shares_of_rows
from nspca.covariance.linalg import Array
from nspca.covariance.moments import moments


def folds(m: int, count: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Split m rows at random into `count` parts; yield for each part the other rows, then its own rows."""
    order = np.random.default_rng(seed).permutation(m)
    for part in np.array_split(order, count):
        yield np.setdiff1d(order, part), np.sort(part)


def shares(X: Any, rows: Array, others: Array, found: list[Array], center: bool) -> Array:
    """Return for each answer in `found` the share of the variance of some `rows` of X (m, n) that it
    explains.

    Answers (n, r) were found on the rows `others`, whose means are used for centring.
    """
    mean = moments(X[others])[0] if center else np.zeros(X.shape[1])
    each = shares_of_rows(X[rows], np.hstack(found), mean, np.ones(X.shape[1]))
    ends = np.cumsum([V.shape[1] for V in found])[:-1]
    return np.array([part.sum() for part in np.split(each, ends)])


def mean_and_error(values: list[Array]) -> tuple[Array, Array]:
    """Return the mean over folds and its standard error, (q,) each; the error of a single fold is nan.

    `values` has an array (q,) for each fold.
    """
    Y = np.array(values)
    if len(Y) < 2:
        return Y.mean(axis=0), np.full(Y.shape[1], np.nan)
    return Y.mean(axis=0), Y.std(axis=0, ddof=1) / np.sqrt(len(Y))
