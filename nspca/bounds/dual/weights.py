"""Minimise functions of the weights of a bundle: nonnegative, with a given sum for each group of points.

A `Lift` calls `descend` at every step, and `starts` calls it for the first prices.
"""

from collections.abc import Callable

import numpy as np

from nspca.covariance.linalg import Array

PIVOTS = 200
"""Maximum changes of the active set. Stopping early gives feasible weights that are not optimal."""
LEAST_PART = 0.05
"""Part of a step at which halving stops, where a step may pass points at which weights become 0."""
RIDGE, LEAST_RIDGE, TINIEST = 1e-9, 1e-11, 1e-280
"""Number added to the diagonal of H, relative to its mean; and at least relative to the largest |c|, which is
at least TINIEST. H is 0 where no price would change.
"""
NEWTON_STEPS = 8
"""Maximum Newton steps."""
SHORT = 1e-4
"""Part of a Newton step at which halving stops."""
Curvature = Callable[[np.ndarray | slice], Array]
"""Function that returns the rows and columns of a Hessian for some points."""


def descend(
    value: Callable[[Array], float],
    slopes: Callable[[Array], tuple[Array, Curvature]],
    w: Array,
    group: np.ndarray,
    enough: float,
    entering: int | None,
) -> Array:
    """Return weights (p,) that minimise a convex function, by Newton steps, each halved until it descends.

    With `entering`, a Newton step changes the positive weights, and so many of the others, at most.

    Parameters
    ----------
    value, slopes : callable
        ``value(w)`` returns the function. ``slopes(w)`` returns its gradient (p,) and a function that returns
        the part of the psd Hessian for given points.
    w : (p,) float64
        Starting weights. The sum of each group is kept.
    group : (p,) int
        Group of each point, numbered from 0.
    enough : float
        Distance from the minimum at which the steps stop, as bounded by the gradient.
    entering : int, optional
        Number of weights of 0 with the lowest gradient that a step may raise.
    """
    totals, before = _sums(w, group), value(w)
    for _ in range(NEWTON_STEPS):
        gradient, curvature = slopes(w)
        if gradient @ w - totals @ lowest(gradient, group) < enough:
            break
        chosen, part = _chosen(w, gradient, group, entering), 1.0
        H, own = curvature(chosen), w[chosen]
        step = np.zeros_like(w)
        step[chosen] = simplex_program(H, gradient[chosen] - H @ own, own, group[chosen]) - own
        fall = float(gradient @ step)
        if fall >= 0:
            break
        while part > SHORT and (after := value(w + part * step)) > before + SHORT * part * fall:
            part /= 2
        if part <= SHORT:
            break
        w, before = np.maximum(w + part * step, 0.0), after
    return rescaled(np.where(w > 1e-10, w, 0.0), group, totals)


def _chosen(w: Array, gradient: Array, group: np.ndarray, entering: int | None) -> np.ndarray | slice:
    """Return the points whose weights a Newton step may change: those with weight, and the next ones."""
    others = np.flatnonzero(w <= 0)
    if entering is None or others.size <= entering:
        return slice(None)
    before = gradient[others] - lowest(gradient, group)[group[others]]
    next_ = others[np.argpartition(before, entering)[:entering]]
    return np.sort(np.append(np.flatnonzero(w > 0), next_))


def simplex_program(H: Array, c: Array, w: Array, group: np.ndarray) -> Array:
    """Return the minimiser (p,) of ``c'w + w'Hw/2`` over w >= 0 with the group sums of the given w.

    H (p, p) is psd. The method is an active set method from the given w, for dozens of variables. Several
    may leave the set together.
    """
    totals = _sums(w, group)
    top = max(float(np.abs(c).max()), TINIEST)
    w, active, tol, several = w.copy(), w > 0, 1e-10 * top, totals.size
    sums = np.equal.outer(np.arange(several), group).astype(np.float64)
    for _ in range(PIVOTS):
        i = np.flatnonzero(active)
        m, part, own = i.size, sums[:, i], H[i[:, None], i]
        K, right = np.zeros((m + several, m + several)), np.empty(m + several)
        K[:m, :m] = own
        K[m:, :m], K[:m, m:] = part, part.T
        K.ravel()[: m * (m + several) : m + several + 1] += max(RIDGE * K.trace() / m, LEAST_RIDGE * top)
        right[:m], right[m:] = -c[i], totals
        new = np.linalg.solve(K, right)[:m].astype(np.float64, copy=False)
        if new.min() >= 0:
            w[i] = new
            gradient = c + H @ w
            excess = gradient - (sums @ (gradient * w) / totals)[group]
            j = int(np.argmin(excess))
            if active[j] or excess[j] >= -tol:
                break
            active[j] = True
        else:
            w[i], active[i] = _towards(new, w[i], own, c[i], group[i], totals)
            w = rescaled(w, group, totals)
    return w


def _towards(
    new: Array, old: Array, H: Array, c: Array, group: np.ndarray, totals: Array
) -> tuple[Array, np.ndarray]:
    """Return weights (m,) between `old` and the minimiser `new`, some of whose are negative; and which stay.

    The step ends where the first weight becomes 0, or goes on with the weights that stay positive, if that
    is better.
    """

    def value(w: Array) -> float:
        return float(c @ w + w @ (H @ w) / 2)

    ratios = np.where(new < 0, old / np.where(new < 0, old - new, 1.0), np.inf)
    first, stays, part = float(ratios.min()), ratios > ratios.min(), 1.0
    nearest = np.where(stays, np.maximum(old + first * (new - old), 0.0), 0.0)
    before = value(nearest)
    while part > max(2 * first, LEAST_PART):
        farther = rescaled(np.maximum(old + part * (new - old), 0.0), group, totals)
        if value(farther) < before:
            return farther, farther > 0
        part /= 2
    return nearest, stays


def lowest(v: Array, group: np.ndarray) -> Array:
    """Return the smallest entry of v (p,) in each group."""
    found = np.full(int(group.max()) + 1, np.inf)
    np.minimum.at(found, group, v)
    return found


def rescaled(w: Array, group: np.ndarray, totals: Array) -> Array:
    """Return w (p,) scaled in each group to the sums `totals`."""
    return w * (totals / _sums(w, group))[group]


def _sums(w: Array, group: np.ndarray) -> Array:
    return np.asarray(np.bincount(group, w), dtype=np.float64)
