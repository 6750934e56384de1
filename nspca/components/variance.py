"""Compute the variance explained by components that are neither orthogonal nor uncorrelated.

`explained_variances` has three definitions of the variance. `shares_of_rows` computes the share of the
variance of other rows. The specs of successive components and of the pitprops table, and the items of the
papers, call the first. The estimator and `selection.choice` call the second.
"""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from nspca.covariance.linalg import Array, binary_exponent
from nspca.covariance.moments import squares
from nspca.covariance.numbers import real_numbers
from nspca.errors import InvalidProblem
from nspca.problem import LARGEST, Problem, moderate

DEPENDENT = 1e-12
"""Share of a column's squared length that must remain after projection; less is rounding and counts as 0."""


def explained_variances(problem: Problem, X: Array) -> dict[str, Array]:
    """Return the variance explained by the first 1, 2, ... r components, by three definitions.

    The definitions agree for principal components.

    ``total``
        ``tr X'AX``, the sum of the variances of the scores. Variance shared by two components counts twice.
    ``adjusted``
        The sum of the parts of each score that the scores before it do not predict. With scores ``ZX = QR``
        it is the sum of the squared diagonal of R over m, computed from ``X'AX`` (Zou, Hastie & Tibshirani
        2006, Section 3.4). All sums depend on the order, also the last.
    ``subspace``
        ``tr Q'AQ`` with X = QR, the variance of data projected on the span of X. It is at most the sum of the
        r largest eigenvalues.

    Parameters
    ----------
    problem : Problem
    X : (n, r) or (n,) float64, unit columns

    Returns
    -------
    dict of (r,) float64
        Cumulative, in the units of the data; entry j is that of the first j + 1 columns.
    """
    X = real_numbers(X, "components", "give numbers", "fill them in")
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or X.shape[0] != problem.n or not moderate(X):
        raise InvalidProblem(
            f"components must be finite numbers of shape (n, r) with n = {problem.n} and of at most "
            f"{LARGEST:g}, got shape {X.shape}"
        )
    A = problem.covariance
    basis = span(X)
    parts = {
        "total": np.diag(X.T @ A.given_product(X)),
        "adjusted": pivots(X.T @ A.given_product(X)),
        "subspace": np.einsum("ij,ij->j", basis, A.given_product(basis)),
    }
    return {name: np.cumsum(part) * A.unit for name, part in parts.items()}


def shares_of_rows(X: Any, components: Array, mean: Array, scale: Array) -> Array:
    """Return the share of the sum of squares of rows X (m, n) along each component (n, r), as (r,).

    Rows are centred by `mean` (n,) and divided by `scale` (n,) first. The share is 0 where all rows equal the
    mean. Shares of components that share no feature add up to the share of their span.
    """
    used = np.flatnonzero(components.any(axis=1))
    if sp.issparse(X):
        X = sp.csr_array(X)
        Z = sp.csr_array((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape)
        Z.sum_duplicates()
        mean = mean / scale
        # Scale to near 1, so that squares neither overflow nor underflow; shares do not change.
        unit = -max(binary_exponent(Z.data), binary_exponent(mean))
        Z.data, mean = np.ldexp(Z.data, unit), np.ldexp(mean, unit)
        total = float(squares(Z, mean).sum())
        some = Z[:, used].toarray() - mean[used]
    else:
        Z = (X - mean) / scale
        Z = np.ldexp(Z, -binary_exponent(Z))
        total = float(np.einsum("ij,ij->", Z, Z))
        some = Z[:, used]
    if total == 0:
        return np.zeros(components.shape[1])
    return np.square(some @ components[used]).sum(axis=0) / total


def pivots(G: Array) -> Array:
    """Return the squared diagonal (r,) of R for a Gram matrix ``G = R'R``; 0 for dependent columns."""
    left, out = G.copy(), np.zeros(len(G))
    for j in range(len(G)):
        if left[j, j] > DEPENDENT * G[j, j]:
            out[j] = left[j, j]
            left = left - np.outer(left[:, j], left[j]) / left[j, j]
    return out


def span(X: Array) -> Array:
    """Return an orthonormal basis (n, r) of the columns of X in their order, with 0 for dependent columns."""
    Q = np.zeros_like(X)
    for j, x in enumerate(X.T):
        off = x - Q @ (Q.T @ x)
        off = off - Q @ (Q.T @ off)
        length = scipy.linalg.norm(off)
        if length**2 > DEPENDENT * float(x @ x):
            Q[:, j] = off / length
    return Q
