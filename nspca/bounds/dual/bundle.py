"""The bundle of a lift: feasible points with supports and weights, and the local search that finds them.

`lift.Lift` is a `Bundle`. `starts` climbs to the first points. All arrays have r rows, the kept rows.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds.dual.weights import lowest, rescaled
from nspca.covariance.linalg import Array, largest_entries

CLIMB_STEPS = 12
"""Steps of a climb (local search) from each direction. Most climbs converge earlier."""
POSITIVE = np.nextafter(0.0, 1.0)
"""Smallest positive number."""
CLIMBS = 32
"""Number of random directions whenever new points are searched."""


@dataclass(frozen=True)
class Sought:
    """The conditions for feasible points.

    Attributes
    ----------
    k, nonneg : maximum number of entries, and whether they are nonnegative
    fixed : number of leading rows that belong to every support, even where the point is 0
    priced : whether rows have prices; a row that costs more than it adds is left out of supports
    """

    k: int
    nonneg: bool
    fixed: int = 0
    priced: bool = False


@dataclass(frozen=True)
class Keeping:
    """The rules for adding points to a bundle and dropping them.

    Attributes
    ----------
    near : relative distance below the largest value up to which a new point may join
    room : number of points per component below which such points join without exceeding the largest value
    age : number of updates after which a point without weight is dropped
    """

    near: float = 1e-3
    room: int = 40
    age: int = 6


ONE, PACKED = Keeping(), Keeping(near=0.05, age=12)
"""Rules for one component; and for several, which need points of lower value until prices are found."""


class Bundle:
    """Feasible points, for one size or several, that a lift uses in place of all feasible points.

    Attributes
    ----------
    points : (r, p) feasible vectors
    share : (p,) their weights w
    supports : (r, p) of zeros and ones
    counts : the different sizes, each with its number of components
    group : (p,) index into `counts` of each point; the weights of a group sum to the number of components
    scales : (r,) positive scales of the rows; None where all are 1
    sizes : (p,) ``(sum s_i |x_i|)^2`` of the points, s the scales
    sought : conditions for the points, except for their size
    totals : number of components of each size
    keeping : rules for adding and dropping points
    idle : (p,) number of updates since each point last had a weight
    """

    def __init__(self, points: Array, group: np.ndarray, counts: tuple[tuple[int, int], ...], sought: Sought):
        self.counts, self.group, self.sought = counts, group, sought
        self.scales: Array | None = None
        self.totals = np.array([float(number) for _, number in counts])
        self.keeping = PACKED if sought.priced else ONE
        parts = [supports_of(points[:, group == g] ** 2, self.of_group(g)) for g in range(len(counts))]
        self.supports = np.hstack(parts)
        self.points = restricted(points, self.supports)
        count = points.shape[1]
        self.share, self.idle = rescaled(np.ones(count), group, self.totals), np.zeros(count)
        self.sizes = absolute_sums(self.points, self.scales) ** 2

    def of_group(self, g: int) -> Sought:
        """Return the conditions for points of the size of group `g`."""
        return replace(self.sought, k=self.counts[g][0])

    @property
    def z(self) -> Array:
        """Total weight (r,) of the points that have each row in their support."""
        return self.supports @ self.share

    @property
    def size(self) -> float:
        return float(self.sizes @ self.share)

    def values(self, U: Array, h: Array, tau: float) -> Array:
        """Return ``|U'x|^2 + tau (sum |x_i|)^2`` plus the sum of h over the support, for each point (p,)."""
        return np.square(U.T @ self.points).sum(axis=0) + tau * self.sizes + h @ self.supports

    def tops(self, values: Array) -> Array:
        return -lowest(-values, self.group)

    def heaviest(self, g: int, count: int) -> Array:
        """Return the `count` points of size `g` with the largest weights."""
        own = np.flatnonzero(self.group == g)
        return self.points[:, own[np.argsort(-self.share[own], kind="stable")[:count]]]

    def joined(self, climbed: list[tuple[Array, Array, Array]], before: Array) -> Array:
        """Add the better points that climbs found, and drop old ones, by the rules of `keeping`.

        Parameters
        ----------
        climbed : list of (points, supports, values)
            Results of `climb` for each size.
        before : (sizes,) float64
            Largest value of a point of the bundle so far, for each size.

        Returns
        -------
        tops : (sizes,) float64
            Largest value for each size, with the new points.
        """
        self.idle = np.where(self.share > 1e-7, 0, self.idle + 1)
        kept, tops = self.idle <= self.keeping.age, before.copy()
        points, supports, group = [self.points[:, kept]], [self.supports[:, kept]], [self.group[kept]]
        for g, (X, supported, values) in enumerate(climbed):
            room = np.count_nonzero(self.group == g) < self.keeping.room * self.totals[g]
            tops[g] = max(before[g], float(values.max()))
            taken = (values > before[g] * (1 + 1e-6)) | room
            taken &= values > tops[g] * (1 - self.keeping.near)
            points.append(X[:, taken])
            supports.append(supported[:, taken])
            group.append(np.full(np.count_nonzero(taken), g))
        self._take(np.hstack(points), np.hstack(supports), np.concatenate(group), kept)
        return tops

    def _take(self, points: Array, supports: np.ndarray, group: np.ndarray, kept: np.ndarray) -> None:
        """Set the points of the bundle: the kept ones first, then the new ones without repetitions."""
        m = int(kept.sum())
        first: dict[bytes, int] = {}
        # adding 0.0 turns -0.0 into 0.0, whose bytes are compared
        for i, point in enumerate(np.vstack((points.round(7) + 0.0, supports, group)).T):
            first.setdefault(point.tobytes(), i)
        order = np.append(np.arange(m), [i for i in first.values() if i >= m]).astype(int)
        self.points = np.ascontiguousarray(points[:, order])
        self.supports = np.ascontiguousarray(supports[:, order])
        self.group, none = group[order], np.zeros(order.size - m)
        self.share = np.append(rescaled(self.share[kept], self.group[:m], self.totals), none)
        self.idle = np.append(self.idle[kept], none)
        self.sizes = absolute_sums(self.points, self.scales) ** 2


def absolute_sums(X: Array, scales: Array | None) -> Array:
    """Return ``sum s_i |x_i|`` (c,) for the columns of X (r, c), with scales s (r,) or 1."""
    return np.abs(X).sum(axis=0) if scales is None else scales @ np.abs(X)


def climb(
    U: Array, root_tau: float, sought: Sought, C: Array, h: Array, scales: Array | None = None
) -> tuple[Array, Array, Array]:
    """Climb from directions C (d + 1, c), and return feasible points (r, c), their supports and values.

    The value of a point is ``|U'x|^2 + (root_tau sum s_i |x_i|)^2`` plus the sum of h over the support, with
    the scales s (r,) of the rows, 1 by default. Each step takes the best feasible point for a direction, and
    then the direction of that point.
    """
    d = U.shape[1]
    for _ in range(CLIMB_STEPS):
        linear, flat = U @ C[:d], root_tau * np.abs(C[d])
        flat = flat if scales is None else scales[:, None] * flat
        P = np.maximum(linear + flat, 0.0) if sought.nonneg else np.abs(linear) + flat
        S = supports_of(P * P + h[:, None], sought)
        X = restricted(P if sought.nonneg else np.copysign(P, linear), S)
        C = np.vstack((U.T @ X, root_tau * absolute_sums(X, scales)))
        lengths = np.linalg.norm(C, axis=0)
        C = C / np.where(lengths > 0, lengths, 1.0)
    return X, S, lengths**2 + h @ S


def supports_of(terms: Array, sought: Sought) -> Array:
    """Return supports (r, c) of zeros and ones: the k largest terms of each column, and all fixed rows.

    When rows have prices, only positive terms are taken, or the largest one alone.
    """
    if sought.fixed:
        terms = terms.copy()
        terms[: sought.fixed] = np.inf
    k = min(sought.k, len(terms))
    # a copy with a line for each column is sorted in half the time
    largest = largest_entries(np.array(terms.T, order="C"), k)
    least = largest[:, 0]
    if sought.priced:
        most = largest.max(axis=1)
        least = np.where(least > 0, least, np.where(most > 0, POSITIVE, most))
    chosen = terms >= least
    tied = np.flatnonzero(np.count_nonzero(chosen, axis=0) > k)
    S = chosen.astype(np.float64, order="C")
    if tied.size:
        first = np.zeros((len(terms), tied.size))
        np.put_along_axis(first, np.argpartition(-terms[:, tied], k - 1, axis=0)[:k], 1.0, axis=0)
        S[:, tied] *= first
    return S


def restricted(X: Array, S: Array) -> Array:
    """Return the columns of X restricted to supports S and normalised.

    A zero column becomes a unit vector of its support. Columns may be too small to be squared.
    """
    X = X * S
    largest = np.abs(X).max(axis=0)
    zero = largest == 0.0
    X[S[:, zero].argmax(axis=0), zero] = largest[zero] = 1.0
    X /= largest
    return X / np.linalg.norm(X, axis=0)
