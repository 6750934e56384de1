"""Compute leading eigenpairs of a matrix known only by products, each of them expensive.

`data.RowsCovariance` calls `leading` for A of many features, where a product is a pass over the data.
"""

from collections.abc import Callable

import numpy as np

from nspca.covariance.linalg import Array, largest_eigenpairs

OVERSAMPLING, BASIS, STEPS = 8, 160, 40
"""Columns beyond the requested number, maximum columns of a basis, maximum products."""


def leading(
    product: Callable[[Array], Array], start: Array, d: int, tol: float
) -> tuple[Array, Array, float]:
    """Return the d largest eigenvalues, their eigenvectors (n, d), and their largest relative residual.

    The residual is relative to the first eigenvalue, and at most `tol` if that was reached in `STEPS`
    products.

    Block subspace iteration: a basis grows by the residuals of its Ritz vectors, and is brought down to these
    when it is full.

    Parameters
    ----------
    product : callable
        Product of the matrix with an array (n, some).
    start : (n, width)
        Starting directions, random or known approximations; width at least d.
    d : int
    tol : float
    """
    Q, width = np.linalg.qr(start)[0], start.shape[1]
    image = product(Q)
    for _ in range(STEPS):
        H = Q.T @ image
        values, Y = largest_eigenpairs((H + H.T) / 2, width)
        U, AU = Q @ Y, image @ Y
        R, size = AU - U * values, max(values[0], 1e-300)
        lengths = np.linalg.norm(R, axis=0)
        residual = float(lengths[:d].max() / size)
        going = lengths > tol * size / 25
        if residual <= tol or not going.any():
            break
        if Q.shape[1] + width > BASIS:
            Q, image = U, AU
        new = outside_span(Q, R[:, going] / lengths[going])
        if not new.shape[1]:
            break
        Q, image = np.hstack((Q, new)), np.hstack((image, product(new)))
    return values[:d], U[:, :d], residual


def outside_span(Q: Array, X: Array) -> Array:
    """Return orthonormal columns for what of X (unit columns) is outside the span of Q beyond rounding."""
    X = X - Q @ (Q.T @ X)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    U = U[:, s > 1e-8][:, : Q.shape[0] - Q.shape[1]]
    U = U - Q @ (Q.T @ U)  # again, to remove what rounding left inside the span
    return np.linalg.qr(U)[0]
