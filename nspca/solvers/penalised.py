"""Run EM with the penalty ``weight w'VV'w`` in its M-step, which keeps a component away from earlier ones, V.

    minimise  h w'w - 2 f'w + weight w'VV'w  over w (w >= 0, or |w|_1 bounded)

Here f = Aw and h = w'f are computed from the w of the step before.
Idea: the Hessian is isotropic except in the r directions V. With u = V'w known, the answer is soft
thresholding: ``w = s(f - weight Vu) / h``, where s is the positive part, or the soft threshold at a price.
The vector u is found by the dual, which has r unknowns instead of n. The dual is convex and piecewise
quadratic, with gradient ``u - V's(f - weight Vu) / h``, so Newton's method ends after a few steps. Bisection
finds a price at which at most k entries are left, as the descent of Alg. 2 does.
Guarantee: each step solves its programme up to rounding; no bound.
Cost: n r per Newton step, thirty times as much when the price has to be found.
Reference: Sigg & Buhmann 2008, eq. 17 with the term of eq. 20, solved there by a general solver.
`nspca.components.at_an_angle` calls the function of `penalised` for the method `em` with the penalty "step".
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nspca.covariance.linalg import Array, rank1_columns
from nspca.covariance.updated import repelled
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.solvers import em

NEWTON = 50
"""Maximum number of Newton steps. The iteration ends earlier once the active entries stay the same."""
HALVINGS = 40
"""Number of bisections for the price of an entry."""
SETTLED = 1e-12
"""Length of the gradient, in units of |u| + 1, at which u has converged."""


def penalised(
    options: em.Options, seed: int, report: Report
) -> Callable[[Problem, Array, float], Array] | None:
    """Return ``find(problem, V, weight) -> x`` by this module; None unless ``options.penalty`` is "step"."""
    if options.penalty != "step":
        return None
    return lambda problem, V, weight: solve(problem, V, weight, options, seed, report).components[:, 0]


def solve(
    problem: Problem, V: Array, weight: float, options: em.Options, seed: int = 0, report: Report = silent
) -> Result:
    """Return the answer with the largest ``x'Ax - weight |V'x|^2`` over all starts.

    Starts are made from the covariance with the penalty. Without it the first start would be V itself, which
    no step leaves.

    Parameters
    ----------
    V : (n, r) array
        Unit components before.
    weight : float
        In units of A.
    """
    changed = repelled(problem.covariance, V, weight)
    W = em.starts(replace(problem, covariance=changed), options.restarts, seed, options.starts)
    for j in range(W.shape[1]):
        W[:, j] = _iterated(problem, W[:, j], V, weight, options)
        report(Event("em", j + 1, W.shape[1], k=problem.size))
    W = em.replace_zero_columns(problem, W)
    best = int(np.argmax([changed.quadratic(w) for w in W.T]))
    return Result.of(problem, W[:, best], Status.HEURISTIC, "em", starts=options.restarts)


def _iterated(problem: Problem, w: Array, V: Array, weight: float, options: em.Options) -> Array:
    A = problem.covariance
    for _ in range(options.iterations):
        f = A.product(w[:, None])[:, 0]
        new = m_step(f, float(w @ f), V, weight, problem.size, problem.nonneg)
        length = np.linalg.norm(new)
        if length == 0:
            return rank1_columns(f[:, None], problem.size, problem.nonneg)[:, 0]
        new /= length
        settled = w @ new > 1 - options.tol
        w = new
        if settled:
            break
    return w


def m_step(f: Array, h: float, V: Array, weight: float, k: int, nonneg: bool) -> Array:
    """Return the minimiser (n,) of the M-step with at most k nonzero entries, not of unit length.

    The vector is zero when no entry is left.
    """
    if h <= 0:
        return np.zeros_like(f)
    w = _at_price(0.0, f, h, V, weight, nonneg)
    if np.count_nonzero(w) <= k:
        return w
    low, high, best = 0.0, float(np.abs(f).max()), np.zeros_like(f)
    for _ in range(HALVINGS):
        price = (low + high) / 2
        w = _at_price(price, f, h, V, weight, nonneg)
        many = np.count_nonzero(w)
        if many > k:
            low = price
        else:
            high, best = price, w
        if many == k:
            break
    return best


def _at_price(price: float, f: Array, h: float, V: Array, weight: float, nonneg: bool) -> Array:
    """Return the minimiser of the M-step with ``2 price |w|_1`` added, found by the dual."""

    def left(u: Array) -> Array:
        """Return ``s(f - weight Vu)`` (n,): what soft thresholding at the price leaves."""
        t = f - weight * (V @ u)
        return np.maximum(t - price, 0.0) if nonneg else np.sign(t) * np.maximum(np.abs(t) - price, 0.0)

    def dual(u: Array, s: Array) -> float:
        """Return the dual objective at u (r,), where ``s = left(u)``."""
        return 0.5 * weight * float(u @ u) + 0.5 * float(s @ s) / h

    u = np.zeros(V.shape[1])
    s = left(u)
    for _ in range(NEWTON):
        gradient = u - V.T @ s / h
        if np.linalg.norm(gradient) <= SETTLED * (1 + np.linalg.norm(u)):
            break
        active = V[s != 0]
        step = np.linalg.solve(np.eye(u.size) + weight / h * active.T @ active, gradient)
        now, length = dual(u, s), 1.0
        while length > SETTLED and dual(u - length * step, left(u - length * step)) > now:
            length /= 2
        u = u - length * step
        s = left(u)
    return s / h
