"""Compute means and standard deviations of columns, and centred columns, accurately at any offset.

``E[x^2] - mean^2`` loses all its digits when the mean is large against the deviation. Here the mean is
subtracted first, and then the mean of the difference, which is the rounding of the first mean. Entries are
right to about a unit in the last place of x - mean. The checker implements this definition independently.
`moments` is for a raw table whose samples get scores: the estimator, `selection` and pages call it.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance.linalg import Array, binary_exponent, scaled

CACHED = 2**16
"""Number of entries processed together: half a megabyte."""
STILL = 4 * 2.0**-52
"""Relative distance up to which values count as one value, such as 0.1 + 0.2 and 0.3."""


def centred(X: Array) -> Array:
    """Return X (m, n) minus its column means, summed along rows of X', a cache-sized part at a time.

    The result does not depend on the memory order of X.
    """
    m, n = X.shape
    C, step = np.empty_like(X, dtype=np.float64), max(1, CACHED // max(m, 1))
    for start in range(0, n, step):
        some = np.array(X[:, start : start + step].T, dtype=np.float64, order="C")
        for _ in range(2):
            some -= some.mean(axis=1, keepdims=True)
        C[:, start : start + step] = some.T
    return C


def counts(X: sp.csr_array) -> NDArray[np.int64]:
    """Return the number of stored entries of every column, (n,)."""
    return np.bincount(X.indices, minlength=X.shape[1])


def squares(X: sp.csr_array, mean: Array) -> Array:
    """Return ``sum (x - mean)^2`` (n,) of every column of sparse X (m, n), zeros included, unformed."""
    far = X.data - mean[X.indices]
    return (
        np.bincount(X.indices, weights=far * far, minlength=X.shape[1]) + (X.shape[0] - counts(X)) * mean**2
    )


def moments(X: Any) -> tuple[Array, Array]:
    """Return the means and population standard deviations (n,) of the columns of finite X (m, n)."""
    if not sp.issparse(X):
        X = np.asarray(X, dtype=np.float64)
        exponent = binary_exponent(X, axis=0)
        C = centred(X := scaled(X, -exponent))
        return np.ldexp(_means(X), exponent), np.ldexp(np.sqrt(_means(C * C)), exponent)
    X = sp.csr_array(X, dtype=np.float64)
    exponent = np.frexp(abs(X).max(axis=0).toarray().ravel())[1]
    X = sp.csr_array((scaled(X.data, -exponent[X.indices]), X.indices, X.indptr), shape=X.shape)
    mean = np.bincount(X.indices, weights=X.data, minlength=X.shape[1]) / X.shape[0]
    # Only columns more than half full can have a mean above their deviation: with a share p of nonzeros,
    # mean^2 <= var p / (1 - p) by Cauchy-Schwarz. Those are written out.
    deviation, full = np.sqrt(squares(X, mean) / X.shape[0]), np.flatnonzero(2 * counts(X) > X.shape[0])
    mean[full], deviation[full] = moments(X[:, full].toarray())
    return np.ldexp(mean, exponent), np.ldexp(deviation, exponent)


def _means(X: Array) -> Array:
    """Return the means of the columns of X (m, n), summed along contiguous memory."""
    return np.ascontiguousarray(X.T).mean(axis=1)
