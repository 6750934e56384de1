"""Compute the spannogram of a rank-2 matrix: the k largest curves at every angle (2014, Section 4.1, Fig. 1).

With ``c(phi) = (sin phi, cos phi)``, phi in (-pi/2, pi/2], row i of V is the curve
``V_i1 sin phi + V_i2 cos phi``. Two curves meet exactly once. So the set of the k largest positive curves
changes at finitely many angles, far fewer than the ``C(n+1, 2)`` intersections. The other half of the circle
has the spannogram of -V. The page Spannogram and the lesson draw it.
"""

from typing import NamedTuple

import numpy as np

from nspca.covariance.linalg import Array, binary_exponent
from nspca.errors import InvalidProblem, Refused
from nspca.lowrank.spannogram.cells import index_rows

MAX_CURVES = 2000
"""Maximum number of curves, since all pairs of curves are held in memory at once."""
COARSE = 512
"""Number of grid angles used to rule out curves that are never on top."""
APART = 1e-12
"""Smallest distance of two different angles, in radians; thinner intervals are dropped."""


class Band(NamedTuple):
    """Intervals of angles for one sign of V, with the set of the k largest curves on each.

    Attributes
    ----------
    edges : (m + 1,)
        Ends of the intervals, from -pi/2 to pi/2.
    supports : (m, k)
        Top set between ``edges[i]`` and ``edges[i + 1]``; sorted rows, padded at their end with -1.
    peak_phi, peak_value : (m,)
        Angle of the closed interval at which ``|V_I c(phi)|^2`` is largest, and this value.
    """

    edges: Array
    supports: Array
    peak_phi: Array
    peak_value: Array


class Intervals(NamedTuple):
    """Spannogram for both signs of V, and the optimum of the rank-2 problem.

    `phi`, `sign` (1 or -1), `value` and `support` belong to the optimum.
    """

    positive: Band
    negative: Band
    phi: float
    sign: int
    value: float
    support: Array


def direction(phi: Array | float) -> Array:
    """Return ``c(phi) = (sin phi, cos phi)``, (..., 2)."""
    return np.stack([np.sin(phi), np.cos(phi)], axis=-1)


def intervals_rank2(V: Array, k: int) -> Intervals:
    """Return the k largest curves at every angle, and the exact optimum of the rank-2 problem.

    The problem is ``max |V'x|^2`` over nonnegative k-sparse unit x.

    Parameters
    ----------
    V : (n, 2) float64
    k : int, 1 <= k <= n

    Returns
    -------
    Intervals : values in the units of ``VV'``

    Raises
    ------
    Refused : more than `MAX_CURVES` curves can be on top somewhere
    """
    if V.ndim != 2 or V.shape[1] != 2:
        raise InvalidProblem(
            f"the rank-2 spannogram needs V with two columns, got an array of shape {V.shape}"
        )
    if not 1 <= k <= len(V):
        raise InvalidProblem(f"k must be between 1 and n = {len(V)}, got {k}")
    exponent = int(binary_exponent(V))
    unit = V * 2.0**-exponent
    bands = [_band(sign * unit, k) for sign in (1, -1)]
    best = [int(np.argmax(band.peak_value)) for band in bands]
    side = int(bands[1].peak_value[best[1]] > bands[0].peak_value[best[0]])
    top, at = bands[side], best[side]
    support = top.supports[at][top.supports[at] >= 0]
    scale = 4.0**exponent
    positive, negative = (band._replace(peak_value=band.peak_value * scale) for band in bands)
    return Intervals(
        positive, negative, float(top.peak_phi[at]), 1 - 2 * side, float(top.peak_value[at] * scale), support
    )


def _band(V: Array, k: int) -> Band:
    """Return the intervals on which the k largest positive curves of V stay the same."""
    rows = _ever_on_top(V, k)
    edges = np.sort(np.concatenate([[-np.pi / 2, np.pi / 2], _changes(V[rows], k)]))
    edges = np.append(edges[:-1][np.diff(edges) > APART], np.pi / 2)
    edges[0] = -np.pi / 2
    sets = _on_top(V[rows], k, (edges[1:] + edges[:-1]) / 2)
    new = np.concatenate([[True], (sets[1:] != sets[:-1]).any(axis=1)])
    edges = np.append(edges[:-1][new], np.pi / 2)
    supports = np.append(rows, -1)[index_rows(sets[new], k)]
    return Band(edges, supports, *_peaks(V, edges, supports))


def _ever_on_top(V: Array, k: int) -> np.ndarray:
    """Return the rows long enough to be among the k largest curves at some angle.

    A curve shorter than the k-th largest value at every angle is never on top.

    Between grid angles a curve moves by at most its length times half a step.
    """
    step = np.pi / COARSE
    phi: Array = -np.pi / 2 + step * (np.arange(COARSE, dtype=np.float64) + 0.5)
    length = np.hypot(*V.T)
    # Any k rows give a valid threshold; the long ones give a good one.
    strong = np.argsort(-length, kind="stable")[: max(4 * k, 1000)]
    values = V[strong] @ direction(phi).T - length[strong, None] * step / 2
    threshold = np.partition(values, len(strong) - k, axis=0)[len(strong) - k].min()
    rows = np.flatnonzero(length >= max(threshold * (1 - 1e-9), np.finfo(float).tiny))
    if len(rows) > MAX_CURVES:
        raise Refused(
            f"the rank-2 intervals need at most {MAX_CURVES} curves, but {len(rows)} of {len(V)} can be "
            f"among the k = {k} largest; draw the curves as a raster, or ask for a smaller k"
        )
    return rows


def _changes(V: Array, k: int) -> Array:
    """Return the angles at which a curve enters or leaves the k highest, or changes its sign.

    Two curves change places exactly once, so a curve's rank is its rank at -pi/2 plus a running count over
    its own sorted intersections.
    """
    difference = V[:, None] - V[None]
    # The order just after -pi/2.
    start = np.where(difference[..., 0] != 0, -difference[..., 0], difference[..., 1])
    phi = _zero_of(difference)
    order = np.argsort(phi, axis=1)
    # [i, j] = 1: j starts above i and will be below; equal rows never change places.
    falls = np.sign(-start).astype(np.int64)
    first = (falls > 0).sum(axis=1) + np.tril(falls == 0, -1).sum(axis=1)
    rank = first[:, None] - np.cumsum(np.take_along_axis(falls, order, axis=1), axis=1)
    inside = np.column_stack([first, rank]) < k
    return np.concatenate(
        [np.take_along_axis(phi, order, axis=1)[inside[:, 1:] != inside[:, :-1]], _zero_of(V)]
    )


def _zero_of(rows: Array) -> Array:
    """Return the angle in (-pi/2, pi/2] at which ``row @ c(phi) = 0``; pi/2 for a zero row."""
    flip = np.where(rows[..., 0] < 0, -1.0, 1.0)
    phi = np.arctan2(-flip * rows[..., 1], flip * rows[..., 0])
    return np.where((phi <= -np.pi / 2) | ~rows.any(axis=-1), np.pi / 2, phi)


def _on_top(V: Array, k: int, phi: Array) -> Array:
    """Return a mask (m, n) of the k largest positive curves at each angle; of equal rows the first count."""
    distinct, place = np.unique(V + 0.0, axis=0, return_inverse=True)
    values = np.maximum(direction(phi) @ distinct.T, 0)[:, place.ravel()]
    n = values.shape[1]
    last = np.partition(values, n - k, axis=1)[:, n - k, None] if k < n else 0.0
    above = values > last
    level = (values == last) & (values > 0)
    return above | (level & (np.cumsum(level, axis=1) <= k - above.sum(axis=1, keepdims=True)))


def _peaks(V: Array, edges: Array, supports: Array) -> tuple[Array, Array]:
    """Return the angle and the value of the largest ``|V_I c(phi)|^2`` on every closed interval.

    The maximum is at the leading eigenvector or, when that lies outside, at an end (P_2).
    """
    R = np.vstack([V, np.zeros((1, 2))])[supports]
    Q = np.einsum("ski,skj->sij", R, R)
    # |Vc|^2 = mean + (q22 - q11)/2 cos 2 phi + q12 sin 2 phi.
    eigen = np.arctan2(Q[:, 0, 1], (Q[:, 1, 1] - Q[:, 0, 0]) / 2) / 2
    inside = (edges[:-1] <= eigen) & (eigen <= edges[1:])
    phi = np.stack([np.where(inside, eigen, edges[:-1]), edges[:-1], edges[1:]])
    c = direction(phi)
    values = np.einsum("psi,sij,psj->ps", c, Q, c, optimize=True)
    best = np.argmax(values, axis=0)
    column = np.arange(len(supports))
    return phi[best, column], values[best, column]
