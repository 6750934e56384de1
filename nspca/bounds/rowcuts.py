"""The block behind B7: ``sum_j X_ij^2 <= X_ii z_i``, ``0 <= z <= 1``, ``sum z <= k``; M is its dual.

Every X = xx' of a feasible x satisfies it with z the indicator of the support. Once z is known, row i of the projection is a
ball of centre (z_i/2) e_i and radius z_i/2. The distance of a row, as a function of z, has a slope that only depends on a cubic
equation, so the best z for a given price of the sum is explicit, and the price is found by bisection.
"""

import numpy as np

from nspca.linalg import Array

BISECTIONS = 40
"""Steps for the price of the sum of z: twelve digits of a number that is only a device."""


class Rows:
    """Block of a `Splitting`; the dual matrix is not symmetric."""

    def __init__(self, splitting, k: int, weight: float = 1.0):
        self.of, self.k, self.weight = splitting, k, weight
        self.Z, self.dual = np.zeros_like(splitting.A), np.zeros_like(splitting.A)
        splitting.blocks.append(self)

    @property
    def M(self) -> Array:
        return self.of.rho * self.weight * self.dual

    def pull(self, G):
        part = self.dual - self.Z
        G += self.weight * (self.of.X + (part + part.T) / 2)

    def update(self, relaxation):
        T = relaxation * self.of.X + (1 - relaxation) * self.Z + self.dual
        self.Z = project(T, self.k)
        self.dual = T - self.Z

    def scale(self, factor):
        self.dual = self.dual * factor


def project(T: Array, k: int) -> Array:
    """The nearest matrix with ``|row_i - (z_i/2) e_i| <= z_i/2`` for some z in [0, 1] with sum at most k."""
    diagonal = np.diag(T).copy()
    squares = np.maximum(np.einsum("ij,ij->i", T, T) - diagonal**2, 0.0)
    z = supports(diagonal, squares, k)
    P = T.copy()
    P[np.diag_indices_from(P)] -= z / 2
    lengths = np.sqrt(squares + (diagonal - z / 2) ** 2)
    P *= np.where(lengths > z / 2, (z / 2) / np.where(lengths > 0, lengths, 1.0), 1.0)[:, None]
    P[np.diag_indices_from(P)] += z / 2
    return P


def supports(diagonal: Array, squares: Array, k: int) -> Array:
    """The z of the projection, from the rows' diagonal entries and the squared norms of the rest; (r,)."""
    z = priced(diagonal, squares, 0.0)
    if z.sum() <= k:
        return z
    low, high = 0.0, 1.0
    while priced(diagonal, squares, high).sum() > k:
        low, high = high, 4 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if priced(diagonal, squares, middle).sum() > k else (low, middle)
    return priced(diagonal, squares, high)


def priced(diagonal: Array, squares: Array, price: float) -> Array:
    """Minimiser over [0, 1] of half the squared distance of a row plus price times z.

    With r the distance from the centre and w = r + X_ii - z/2, the slope vanishes where
    ``w^3 - (X_ii + price) w^2 - price squares = 0``, and ``z = 2 X_ii - w + squares / w``.
    """
    if price == 0.0:
        w = np.maximum(diagonal, 0.0)
        z = np.where(squares > 0, 1.0, w)
        return np.clip(np.where(w > 0, w + squares / np.where(w > 0, w, 1.0), z), 0.0, 1.0)
    b, c = diagonal + price, price * squares
    w = np.maximum(b, 0.0) + np.cbrt(c)  # right of the only positive root, where the cubic is convex and rising
    for _ in range(12):
        slope = w * (3 * w - 2 * b)
        step = (w * w * (w - b) - c) / np.where(slope > 0, slope, 1.0)
        w = np.where(slope > 0, w - step, w)
    return np.clip(np.where(w > 0, 2 * diagonal - w + squares / np.where(w > 0, w, 1.0), 0.0), 0.0, 1.0)
