"""Judge exchanges of features: leave single features out of a component, and let one enter.

The value of x without feature i is ``x'Ax - 2 x_i (Ax)_i + x_i^2 A_ii`` over ``1 - x_i^2``. One product
with A serves every i. The difference loses its digits where little remains of the length of x, or of its
value. There the quadratic form of what remains is computed directly, so that every value is one that is
reached. `single`, `exchange` and `forced` judge exchanges with `replacements`, `greedy` with `in_span`.
"""

from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import Array, normalised

LEAST_LEFT = 1 / 16
"""Least share of its terms that a difference must keep: it then loses four of 53 binary digits."""


@dataclass(frozen=True, eq=False)
class Removed:
    """A component without each of its s features in turn, brought back to unit length.

    Attributes
    ----------
    x : (s,) float64
        The nonzero entries of the component.
    values : (s,) float64
        ``y'Ay`` of the remaining vector y; 0 where nothing remains.
    lengths : (s,) float64
        Length of what remains of x; not used for the features `again`.
    again : (w,) int
        Features, by position, without which so little remains that it was computed directly.
    Y : (s, w) float64
        The vectors that remain without these.
    """

    x: Array
    values: Array
    lengths: Array
    again: np.ndarray
    Y: Array

    def pulls(self, columns: Array, image: Array) -> Array:
        """Return ``(Ay)_j`` for every remaining vector y and some features j; (s, m).

        Parameters
        ----------
        columns : (m, s) float64
            Rows j of A at the features of x.
        image : (m,) float64
            ``(Ax)_j``.
        """
        out = (image[None, :] - self.x[:, None] * columns.T) / self.lengths[:, None]
        out[self.again] = (columns @ self.Y).T
        return out


def without_each(block: Array, x: Array) -> Removed:
    """Return the component with nonzero entries x (s,) without each of its features; `block` is A on them."""
    image, diagonal, squares = block @ x, np.diag(block), x**2
    total, value = float(squares.sum()), float(x @ image)
    rest, left = total - squares, value - 2 * x * image + squares * diagonal
    terms = abs(value) + 2 * np.abs(x * image) + squares * np.abs(diagonal)
    again = np.flatnonzero((rest < LEAST_LEFT * total) | (left < LEAST_LEFT * terms))
    Y = np.tile(x[:, None], again.size)
    Y[again, np.arange(again.size)] = 0.0
    Y = np.column_stack([normalised(y) for y in Y.T]) if again.size else Y
    rest[again] = total
    values = left / rest
    values[again] = np.einsum("sw,sw->w", Y, block @ Y)
    return Removed(x, values, np.sqrt(rest), again, Y)


def in_span(value: Array | float, cross: Array, variance: Array, nonneg: bool) -> Array:
    """Return the value of the best (nonnegative) vector in the span of a unit vector x and a feature j.

    That is the largest eigenvalue of a 2 x 2 matrix, from ``x'Ax``, ``(Ax)_j`` and ``A_jj``.
    """
    cross = np.maximum(cross, 0.0) if nonneg else cross
    return (value + variance + np.hypot(value - variance, 2 * cross)) / 2


def replacements(
    block: Array, columns: Array, x: Array, image: Array, variances: Array, has_room: bool, nonneg: bool
) -> tuple[Array, Array]:
    """Return values without each of the s features of a component, and with one of m others in its place.

    The values with another feature are (s, m). With room they have one more row, in which no feature leaves.

    Parameters
    ----------
    block, columns : (s, s), (m, s) float64
        A on the features of the component, and between the others and these.
    x : (s,) float64
        The nonzero entries of the component.
    image, variances : (m,) float64
        ``(Ax)_j`` and ``A_jj`` of the others.
    """
    left = without_each(block, x)
    values, cross = left.values, left.pulls(columns, image)
    if has_room:
        values, cross = np.append(values, x @ block @ x), np.vstack((cross, image))
    return left.values, in_span(values[:, None], cross, variances, nonneg)
