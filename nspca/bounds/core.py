"""A dense core and weights for the features outside it: bounds where every row has entries above tau.

Standardised tables have equal variances, so safe elimination leaves nothing out. Here W, M and U are free on
a core R alone. Outside it ``W_ij = min(A_ij, tau)``, which leaves the sparse remainder N of `remainder`. For
weights y > 0 on the others O, with ``d_i = (|N_OO| y)_i / y_i < t``,

    x_O'N_OO x_O <= sum_i d_i x_i^2,       2 x_O'N_OR x_R <= sum_i (t - d_i) x_i^2 + x_R'K x_R,
    K = N_RO diag(1 / (t - d)) N_OR,

so the bound of the core with ``A_RR + K`` in place of A_RR holds for all features, as long as t is at least
every d_i. Elimination is the case N = 0; with an empty core the bound is ``max d + k tau``.

For a vector v >= 0 on the core the y that makes v'Kv least solves ``(t I - |N_OO|) y = |N_OR| v``.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nspca.bounds.elimination import Kept
from nspca.bounds.remainder import Remainder, across, collect
from nspca.matrix.linalg import Array
from nspca.problem import Problem

BEYOND = 1.2
"""Shift of the scores that choose a core, relative to the largest eigenvalue of the remainder."""
ROOM = 1.02
"""Least ratio of the claim t to the largest eigenvalue of the remainder outside the core."""
NEAR = 1.002
"""The same where the core is empty and t is that eigenvalue itself."""
EVEN = 1e-3
"""Share of a constant in the right side of the weights' equation: keeps all weights positive."""
SMALLEST = 2.0**-50
"""Least weight relative to the largest: smaller ones are raised to it."""
SOLVED, STEPS = 1e-6, 400
"""Relative residual of the weights' equation, and most conjugate gradient steps; any weights are valid."""
SAFE = 1 + 1e-11
"""Rounding room of d and K for whoever recomputes them."""


@dataclass(frozen=True)
class Choice:
    """How a core is chosen: its size, and tau as a share of the value per feature."""

    rows: int
    share: float


def largest_eigenvalue(N: sp.csr_array) -> float:
    """Return an estimate of the largest eigenvalue of a nonnegative symmetric matrix, from below."""
    if N.nnz == 0:
        return 0.0
    if N.shape[0] < 10:
        return float(np.linalg.eigvalsh(N.toarray())[-1])
    start = np.ones(N.shape[0])
    return float(spla.eigsh(N, k=1, v0=start, tol=1e-3, return_eigenvectors=False)[0])


def scores(N: sp.csr_array) -> Array:
    """Return a score for each feature: how much of the remainder its neighbourhood carries.

    The scores s solve ``(theta I - N) s = 1`` for theta above the largest eigenvalue: sums over all walks
    through entries above tau. So dense groups of features come in, or stay out, as wholes.
    """
    theta = BEYOND * largest_eigenvalue(N)
    if theta == 0.0:
        return np.ones(N.shape[0])
    return _solve(N, theta, np.ones(N.shape[0]))


def _solve(N, theta, b) -> Array:
    operator = spla.LinearOperator(N.shape, matvec=lambda y: theta * y - N @ y, dtype=np.float64)
    return spla.cg(operator, b, rtol=SOLVED, maxiter=STEPS)[0]


def choose_rows(problem: Problem, N: sp.csr_array, count: int) -> np.ndarray:
    """Return the features of a core: the forced ones first, then those with the largest scores."""
    forced = np.array(problem.forced, dtype=np.int64)
    own = scores(N)
    own[forced] = np.inf
    count = min(max(count, forced.size), problem.n)
    chosen = np.argsort(-own, kind="stable")[:count]
    return np.concatenate((forced, np.setdiff1d(chosen, forced)))


def with_core(
    problem: Problem, remainder: Remainder, rows: np.ndarray, tau: float, t: float, v: Array | None = None
) -> Kept | None:
    """Return the rows of a core with weights for all other features, None where t is too small for them.

    Parameters
    ----------
    problem : Problem
    remainder : Remainder
        Down to a level of at most tau.
    rows : (r,) int
        The core, forced features first.
    tau : float
        Threshold outside the core.
    t : float
        Claim that is wanted; raised where the remainder outside the core needs more.
    v : (r,) float64, optional
        Direction in which K is to be small; None: all features of the core alike.
    """
    A, n = problem.covariance, problem.n
    others = np.setdiff1d(np.arange(n), rows)
    N = remainder.above(tau)
    NOO = sp.csr_array(N[others][:, others])
    NOR = across(A, problem.nonneg, rows, others, tau)
    felt = np.abs(NOR) @ (np.ones(rows.size) if v is None else np.abs(v))
    top = felt.max(initial=0.0)
    b = felt / top + EVEN if top > 0 else np.ones(others.size)
    inside = largest_eigenvalue(NOO)
    t = max(t, (ROOM if rows.size else NEAR) * inside)
    y = weights(NOO, b, t)
    d = (NOO @ y) / y * SAFE if y is not None else None
    if y is None or d is None:
        return None
    most = float(d.max(initial=0.0))
    if rows.size == 0:
        t = most
    gain = t - d
    used = np.flatnonzero(np.diff(NOR.indptr))
    if most > t or (gain[used] <= 0).any():
        return None
    half = sp.csr_array(sp.diags_array(1 / np.sqrt(gain[used])) @ NOR[used]) if used.size else NOR[:0]
    K = (half.T @ half).toarray() * SAFE
    block = A.block(rows) if rows.size else np.zeros((0, 0))
    return Kept(
        rows, block + K, tau, free=others.size, fixed=len(problem.forced), weights=y, folded=K, outside=t
    )


def weights(N: sp.csr_array, b: Array, t: float) -> Array | None:
    """Return positive weights y with ``(t I - N) y = b`` nearly; None where t is below an eigenvalue of N."""
    y = _solve(N, t, b) if N.nnz else b / max(t, 1.0)
    if not np.isfinite(y).all() or y.max(initial=0.0) <= 0:
        return None
    y = y / y.max(initial=1.0)
    return np.maximum(y, SMALLEST) if (y > 0).all() else None


def tau_of(problem: Problem, lower: float, share: float) -> float:
    """Return a threshold: a share of what each of k features brings to the value `lower`."""
    return share * lower / problem.size


def remainder_of(problem: Problem, tau: float) -> Remainder:
    """Return the entries of A above tau, or above the lowest level that can be held."""
    return collect(problem.covariance, problem.nonneg, tau)
