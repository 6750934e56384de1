"""Weights of samples: ``A = sum w (x - mean)(x - mean)' / sum w`` with ``mean = sum w x / sum w``.

Whole weights give the covariance of a table whose rows are repeated so often. Rows of weight 0 are left out
first, so a certificate is about the other rows. Equal weights are no weights. The checker has this rule
independently (`nspca.checker.blocks`).
"""

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance.linalg import Array
from nspca.covariance.numbers import real_numbers
from nspca.errors import InvalidProblem

WIDEST = 1e30
"""Maximum ratio of two weights. Squares of weighted numbers then lose no digits by underflow."""


class Weights:
    """Positive weights of some rows of a table.

    Attributes
    ----------
    kept : (m,) bool
        Rows of positive weight.
    factors : (r,) float64 or None
        ``sqrt(w r / sum w)`` of the r kept rows, by which centred rows are multiplied. None for equal ones.
    digest : str
        Content hash of the kept weights; empty for equal ones.
    """

    def __init__(self, given: Any, m: int) -> None:
        w = check_weights(given, m)
        self.kept: NDArray[np.bool_] = w > 0
        w = w[self.kept]
        self.factors: Array | None = None
        self.digest = ""
        if w.min() < w.max():
            self.digest = hashlib.sha256(b"weights" + w.astype("<f8").tobytes()).hexdigest()
            shares = w / w.max()
            self.factors = np.sqrt(shares / shares.mean())

    def rows_of(self, X: Any) -> Any:
        """Return the rows of an array (m, n), dense or sparse, that have a positive weight."""
        return X if self.kept.all() else X[self.kept]


def weighted_moments(X: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Return the weighted means and standard deviations (n,) of the columns of finite X (m, n)."""
    w = check_weights(sample_weight, X.shape[0])
    w = w / w.max()
    w /= w.sum()
    if not sp.issparse(X):
        mean = w @ X
        return mean, np.sqrt(np.einsum("i,ij,ij->j", w, X - mean, X - mean))
    X, mean = sp.csr_array(X), w @ X
    of_entries = np.repeat(w, np.diff(X.indptr))
    share = np.bincount(X.indices, weights=of_entries, minlength=X.shape[1])
    far = np.bincount(X.indices, weights=of_entries * (X.data - mean[X.indices]) ** 2, minlength=X.shape[1])
    return mean, np.sqrt(far + np.maximum(1 - share, 0.0) * mean**2)


def check_weights(given: Any, m: int) -> Array:
    """Return the weights of m samples as numbers (m,); refuse what are none."""
    w = real_numbers(given, "weights of samples", "give one number for each sample", "fill them in")
    if w.shape != (m,):
        raise InvalidProblem(
            f"weights of samples must be one number for each of the {m} samples, got an array of shape "
            f"{w.shape}"
        )
    wrong = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if wrong.size:
        raise InvalidProblem(
            f"weights of samples must be finite numbers of at least 0, got {w[wrong[0]]} for sample "
            f"{wrong[0] + 1}; give it 0 to leave the sample out"
        )
    positive = w[w > 0]
    if not positive.size:
        raise InvalidProblem("weights of samples must not all be zero; leave them out for equal weights")
    with np.errstate(over="ignore"):
        ratio = positive.max() / positive.min()
    if ratio > WIDEST:
        raise InvalidProblem(
            f"weights of samples may differ by a factor of {WIDEST:g}, got {positive.min():g} and "
            f"{positive.max():g}; set the smallest ones to 0, which leaves those samples out"
        )
    return w
