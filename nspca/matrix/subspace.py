"""Leading eigenpairs of a matrix that is known by its products alone, each of them dear."""

from collections.abc import Callable

import numpy as np

from nspca.matrix.linalg import Array, largest_eigenpairs

OVERSAMPLING, BASIS, STEPS = 8, 160, 40
"""Columns beyond those asked for, most columns of a basis, most products."""


def leading(
    product: Callable[[Array], Array], start: Array, d: int, tol: float
) -> tuple[Array, Array, float]:
    """The d largest eigenvalues and eigenvectors (n, d), and their largest residual relative to the first
    one, at most `tol` if that was reached in `STEPS` products.

    Block subspace iteration: a basis grows by the residuals of its Ritz vectors, and is brought down to these
    when it is full.

    Parameters
    ----------
    product : callable
        Of the matrix with (n, some).
    start : (n, width)
        Where it begins, width at least d: random directions, or what is known.
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
        new = beside(Q, R[:, going] / lengths[going])
        if not new.shape[1]:
            break
        Q, image = np.hstack((Q, new)), np.hstack((image, product(new)))
    return values[:d], U[:, :d], residual


def beside(Q: Array, X: Array) -> Array:
    """Orthonormal columns for what the unit columns of X have outside the span of Q, but for rounding."""
    X = X - Q @ (Q.T @ X)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    U = U[:, s > 1e-8][:, : Q.shape[0] - Q.shape[1]]
    U = U - Q @ (Q.T @ U)  # once more for what the first time left by rounding
    return np.linalg.qr(U)[0]
