"""Bound a'Ta over a >= 0 with a'Ga = 1 on many cones at once, and find the edge that limits the bound.

    F G - T = P + N,  P psd,  N >= 0   proves   a'Ta <= F a'Ga  for all a >= 0.

Idea: N takes the positive entries off the diagonal. P has none there then, so its lowest eigenvector is
nonnegative (Perron): where F is too low it is an `a` that says so. The next F is the one at which that `a`
agrees, a Newton step from below on a concave function.
Guarantee: what is given back is an upper bound, up to the rounding of a D x D eigenvalue.
Source: docs/certificates.md; matrices P + N are copositive, for D <= 4 all of them are such (Diananda 1962).
"""

import numpy as np

from nspca.covariance.linalg import Array

STEPS = 2
"""Newton steps: a third one saves a fifteenth of the cones and costs more than those."""
ROOM = 2.0**-7
"""How far above what the steps come to it is tried, as a share of the way to what was known."""
SHORT = 0.1
"""An edge with less than this share of the longest one's 1 - cos is not split: cones stay round."""


def lowered(G: Array, T: Array, known: Array) -> Array:
    """Upper bounds (c,) of ``a'Ta / a'Ga`` over a >= 0, none above `known`.

    Parameters
    ----------
    G : (c, D, D) float64
        Products of unit generators, at least 0.
    T : (c, D, D) float64
        At least 0.
    known : (c,) float64
        Upper bounds, finite.
    """
    F, diagonal = np.einsum("cii->ci", T).max(axis=1), np.eye(T.shape[1], dtype=bool)
    for _ in range(STEPS):
        C = F[:, None, None] * G - T
        pairs = np.where((C < 0) | diagonal, _pairs(C), 0.0)
        F = np.maximum(F, (pairs * T).sum(axis=(1, 2)) / (pairs * G).sum(axis=(1, 2)))
    F += ROOM * np.maximum(known - F, 0.0)
    holds = np.linalg.eigvalsh(without_positive(F[:, None, None] * G - T))[:, 0] >= 0
    return np.where(holds & (known > F), F, known)


def dearest(G: Array, T: Array) -> np.ndarray:
    """The edge (c, 2) of each cone that weighs most in its bound, or its longest one; D at least 2."""
    c, D, _ = T.shape
    C = np.einsum("cii->ci", T).max(axis=1)[:, None, None] * G - T
    length = np.maximum(1.0 - G, 0.0).reshape(c, -1)
    length[:, ~np.triu(np.ones((D, D), dtype=bool), 1).ravel()] = -1.0
    weight = (_pairs(C) * np.maximum(-C, 0.0)).reshape(c, -1) * np.sqrt(np.maximum(length, 0.0))
    longest, best, every = length.argmax(axis=1), weight.argmax(axis=1), np.arange(c)
    worth = (weight[every, best] > 0) & (length[every, best] > SHORT * length[every, longest])
    return np.column_stack(np.divmod(np.where(worth, best, longest), D))


def without_positive(C: Array) -> Array:
    """Symmetric matrices (c, D, D) without the positive entries off their diagonals."""
    return np.where(np.eye(C.shape[1], dtype=bool), C, np.minimum(C, 0.0))


def _pairs(C: Array) -> Array:
    """``a a'`` (c, D, D) of the lowest eigenvectors of these without their positive entries, a >= 0."""
    a = np.abs(np.linalg.eigh(without_positive(C))[1][:, :, 0])
    return a[:, :, None] * a[:, None, :]
