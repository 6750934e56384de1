"""Matrices in few binary digits, which compress well. Bounds are proved for the rounded numbers."""

import numpy as np

from nspca.covariance.linalg import Array


def rounded(W: Array, digits: int) -> Array:
    """Return W in multiples of one power of two, `digits` digits below its root mean square."""
    size = float(np.sqrt(np.mean(W * W)))
    if size == 0.0:
        return W
    step = 2.0 ** (np.ceil(np.log2(size)) + 2 - digits)
    return np.round(W / step) * step
