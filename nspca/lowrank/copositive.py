"""Bound a'Ta over a >= 0 with a'Ga = 1 on many cones at once, and find the edge that limits the bound.

    F G - T = P + N,  P psd,  N >= 0   proves   a'Ta <= F a'Ga  for all a >= 0.

Idea: N takes the positive entries off the diagonal. Then P has none there, so its lowest eigenvector is
nonnegative (Perron). Where F is too low, this eigenvector is an `a` with a'Ta > F a'Ga. The next F is a'Ta /
a'Ga, a Newton step from below on a concave function.
Guarantee: results are upper bounds, up to the rounding of a D x D eigenvalue.
`objective` calls `lowered` and `dearest` for the cones of a search, and `fixing` calls `dearest`.
Source: docs/note.md, Theorem 2. Matrices P + N are copositive; for D <= 4 every copositive matrix has this
form (Diananda 1962).
"""

import numpy as np

from nspca.covariance.linalg import Array

STEPS = 2
"""Number of Newton steps. A third step would save a fifteenth of the cones, and cost more than it saves."""
ROOM = 2.0**-7
"""The F that is tried lies above the result of the steps by this share of the distance to the known bound."""
SHORT = 0.1
"""Least ``1 - cos`` of an edge that is split, as a share of the longest edge's: cones stay round."""


def lowered(G: Array, T: Array, known: Array) -> Array:
    """Return upper bounds (c,) of ``a'Ta / a'Ga`` over a >= 0, none above `known`.

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
    """Return for each cone the edge to split (c, 2): the one that weighs most in its bound; D >= 2.

    The longest edge is taken where none weighs anything, or where the one that does is much shorter. `G` and
    `T` (c, D, D) are as in `lowered`.
    """
    c, D, _ = T.shape
    C = np.einsum("cii->ci", T).max(axis=1)[:, None, None] * G - T
    length = np.maximum(1.0 - G, 0.0).reshape(c, -1)
    length[:, ~np.triu(np.ones((D, D), dtype=bool), 1).ravel()] = -1.0
    weight = (_pairs(C) * np.maximum(-C, 0.0)).reshape(c, -1) * np.sqrt(np.maximum(length, 0.0))
    longest, best, every = length.argmax(axis=1), weight.argmax(axis=1), np.arange(c)
    worth = (weight[every, best] > 0) & (length[every, best] > SHORT * length[every, longest])
    return np.column_stack(np.divmod(np.where(worth, best, longest), D))


def without_positive(C: Array) -> Array:
    """Return symmetric matrices (c, D, D) with their positive entries off the diagonal set to 0."""
    return np.where(np.eye(C.shape[1], dtype=bool), C, np.minimum(C, 0.0))


def _pairs(C: Array) -> Array:
    """Return ``aa'`` (c, D, D), a >= 0 the lowest eigenvector of `without_positive` of each matrix."""
    a = np.abs(np.linalg.eigh(without_positive(C))[1][:, :, 0])
    return a[:, :, None] * a[:, None, :]
