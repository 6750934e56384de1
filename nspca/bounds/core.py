"""Bound problems in which safe elimination fails: a dense core of features, and weights for all others.

Standardised tables have equal variances, so every row has entries above tau and none can be eliminated. Here
W, M and U are free on a core R of features only. For all other pairs ``W_ij = min(A_ij, tau)``, which leaves
the sparse remainder N of `remainder`. For weights y > 0 on the other features O, with
``d_i = (|N_OO| y)_i / y_i < t``,

    x_O'N_OO x_O <= sum_i d_i x_i^2,       2 x_O'N_OR x_R <= sum_i (t - d_i) x_i^2 + x_R'K x_R,
    K = N_RO diag(1 / (t - d)) N_OR,

so the bound of the core with ``A_RR + K`` in place of A_RR holds for all features, if t is at least every
d_i. Safe elimination is the case N = 0. With an empty core the bound is ``max d + k tau``.

For a vector v >= 0 on the core, the weights y with the smallest v'Kv solve ``(t I - |N_OO|) y = |N_OR| v``.

`rows` asks whether a core pays, and builds cores. `scripts.lean` rebuilds that
of a certificate by `with_weights`. `dual_search` and `witness` form K for the threshold of their certificate
by `at_threshold`. `dual_search` gives features outside the rows of safe elimination weights by `opened`.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nspca.bounds.elimination import Kept, leaves_out_little
from nspca.bounds.inequality import SLACK
from nspca.bounds.remainder import Remainder, can_be_read, collect, entry_error, in_double, read_in_single
from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array
from nspca.problem import Problem

BEYOND = 1.2
"""Shift of the scores that choose a core, relative to the largest eigenvalue of the remainder."""
ROOM = 1.02
"""Minimum ratio of the claim t to the largest eigenvalue of the remainder outside the core."""
NEAR = 1.002
"""Minimum ratio of t to that eigenvalue when the core is empty."""
SHARE, LIFTED_SHARE, HIGHER_SHARE = 0.6, 0.25, 0.15
"""First claim t, as a share of the value minus k tau: for a plain lift after few steps, for a lift with row
cuts, whose spectral half is smaller, and for one that goes on in more dimensions. No claim can be below that
of the features outside the core. Data in parts keep the first.
"""
EVEN = 1e-3
"""Constant added to the normalised right side of the equation for the weights. It keeps weights positive."""
SMALLEST = 2.0**-50
"""Minimum weight relative to the largest. Smaller weights are raised to this."""
SOLVED, STEPS = 1e-6, 400
"""Relative residual of the equation for the weights, and maximum conjugate gradient steps. Any positive
weights are valid.
"""
SAFE = 1 + 1e-11
"""Factor on d for the rounding errors of a checker that recomputes d."""
OPENED, FOLDED, HALF = (0.25, 0.4, 0.6), 0.5, 0.5
"""Thresholds tried for the features outside kept rows (`opened`), relative to the largest entry left out;
largest trace of K, and the claim t for the features outside, relative to the spectral claim.
"""
COSTLY = 1e-3
"""Least cost of the largest entry left out, the sum of the sizes times that entry, relative to the spectral
claim, for which rows are opened: less of it gains no more. Without this, entries of the size of a rounding
would be read where all other features are 0.
"""
TRIED = 11
"""Steps of the golden section over tau, which leave half a per cent of its range (the bound is convex)."""
FIRST, FIRST_IN_PARTS, FALL = 0.75, 0.25, 0.6
"""First level above which entries are collected, relative to lower / k; this level for data that are held in
parts; and the factor by which the level falls while the best tau lies near the level.
"""
CLOSE, LEAST = 1.05, 1e-3
"""Minimum ratio of the best tau to the level, for a level that is low enough; and the lowest level, relative
to the largest variance.
"""
GOLDEN = (np.sqrt(5) - 1) / 2
"""Golden ratio, less than 1: the share of the range that a step of the golden section keeps."""


def largest_eigenvalue(N: sp.csr_array, count: int = 1) -> float:
    """Return a lower estimate of the sum of the `count` largest eigenvalues of a nonnegative symmetric N.

    Negative eigenvalues count as 0.
    """
    used = np.flatnonzero(np.diff(N.indptr))
    N = N[used][:, used] if used.size < N.shape[0] / 2 else N
    if N.nnz == 0:
        return 0.0
    if N.shape[0] < 10 + 2 * count:
        return float(np.maximum(np.linalg.eigvalsh(N.toarray())[-count:], 0.0).sum())
    start = np.ones(N.shape[0]) if count == 1 else np.random.default_rng(0).random(N.shape[0])
    values = spla.eigsh(N, k=count, v0=start, tol=1e-3, return_eigenvectors=False)
    return float(np.maximum(values, 0.0).sum())


def scores(N: sp.csr_array) -> Array:
    """Return a score (n,) for each feature: the weight of the remainder N in its neighbourhood.

    The scores s solve ``(theta I - N) s = 1`` for theta above the largest eigenvalue. They sum over all walks
    through the graph of N, so a dense group of features enters a core, or stays outside, as a whole.
    """
    theta = BEYOND * largest_eigenvalue(N)
    if theta == 0.0:
        return np.ones(N.shape[0])
    return _solve(N, theta, np.ones(N.shape[0]))


def _solve(N: sp.csr_array, theta: float, b: Array) -> Array:
    """Return an approximate solution y of ``(theta I - N) y = b`` by conjugate gradients."""
    operator = spla.LinearOperator(N.shape, matvec=lambda y: theta * y - N @ y, dtype=np.float64)
    return spla.cg(operator, b, rtol=SOLVED, maxiter=STEPS)[0]


def ranking(problem: Problem, N: sp.csr_array) -> np.ndarray:
    """Return all features (n,): forced ones first, then those with the largest scores."""
    own = scores(N)
    own[list(problem.forced)] = np.inf
    return np.argsort(-own, kind="stable")


def choose_rows(problem: Problem, ranked: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` features of a ranking for a core: forced ones, then the others in order."""
    forced = np.array(problem.forced, dtype=np.int64)
    return np.concatenate((forced, np.sort(ranked[forced.size : max(count, forced.size)])))


@dataclass(frozen=True, eq=False)
class Curve:
    """The bound with an empty core as a function of tau.

    Attributes
    ----------
    taus, uppers : (p,) float64
        Thresholds that were tried, increasing, and ``lambda_max(N) + k tau`` for each, an estimate.
    """

    taus: Array
    uppers: Array

    @property
    def best(self) -> float:
        """Threshold tau with the smallest bound."""
        return float(self.taus[np.argmin(self.uppers)])

    def lower_tau(self, excess: float) -> float:
        """Return the tau below the best one at which the bound exceeds its minimum by `excess`."""
        at = int(np.argmin(self.uppers))
        taus, uppers = self.taus[: at + 1][::-1], self.uppers[: at + 1][::-1]
        return float(np.interp(self.uppers[at] + excess, np.maximum.accumulate(uppers), taus))


def pays(problem: Problem, rows: tuple[int, ...], most: float, lower: float) -> bool:
    """Tell whether a core with weights is tried: A is large and can be read, and safe elimination fails.

    Elimination fails where k times the largest eliminated entry exceeds `most`, even with the largest number
    of rows that may be kept. Where few pairs of features are in reach (`few_in_reach`), a core proves more
    than elimination in any case.

    Parameters
    ----------
    problem : Problem
    rows : tuple of int
        Increasing numbers of rows that safe elimination may keep.
    most : float
        Maximum of k times the largest eliminated entry, in unit scale.
    lower : float
        The best known value, in unit scale; 0 for none.
    """
    A = problem.covariance
    if len(problem.forced) == sum(problem.sizes) or not can_be_read(A, first_level(problem, lower)):
        return False
    if few_in_reach(A):
        return problem.n > rows[-1]
    return not leaves_out_little(problem, rows[-1], most)


def few_in_reach(A: Covariance) -> bool:
    """Return whether blocks of A cost passes and its variances differ, so that few entries can be large."""
    return not A.cheap_blocks and not A.scale


def first_level(problem: Problem, lower: float) -> float:
    """Return the level above which entries of A are collected first, from the best known value `lower`."""
    A, top = problem.covariance, float(problem.covariance.diagonal.max())
    first = FIRST_IN_PARTS if few_in_reach(A) else FIRST
    return first * min(lower / sum(problem.sizes), top) if lower > 0 else first * top


def search_tau(problem: Problem, lower: float) -> tuple[Remainder, Curve]:
    """Return the entries of A above a level, and the bound with an empty core by threshold.

    `lower` is the best known value, in unit scale. The level is lowered until the best threshold is well
    above it, or until memory for entries is full.
    """
    A, top = problem.covariance, float(problem.covariance.diagonal.max())
    level = first_level(problem, lower)
    while True:
        remainder = collect(A, problem.nonneg, level)
        # an earlier call may have collected more: what is found here may not depend on that
        least = max(remainder.level, level)
        curve = _search(problem, remainder, least)
        if curve.best > CLOSE * least or remainder.level > level or least < LEAST * top:
            return remainder, curve
        level *= FALL


def _search(problem: Problem, remainder: Remainder, low: float) -> Curve:
    """Return the bound with an empty core for thresholds above `low` (golden section)."""
    high = float(remainder.sizes.max(initial=low))
    found: dict[float, float] = {}

    def upper(tau: float) -> float:
        if tau not in found:
            own = largest_eigenvalue(remainder.above(tau), len(problem.sizes))
            found[tau] = own + sum(problem.sizes) * tau
        return found[tau]

    upper(high)
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    for _ in range(TRIED):
        if upper(left) <= upper(right):
            high, right = right, left
            left = high - GOLDEN * (high - low)
        else:
            low, left = left, right
            right = low + GOLDEN * (high - low)
    taus = np.array(sorted(found))
    return Curve(taus, np.array([found[tau] for tau in taus]))


def with_core(
    problem: Problem, remainder: Remainder, rows: np.ndarray, tau: float, t: float, v: Array | None = None
) -> Kept | None:
    """Return the rows of a core with weights for all other features; None if no weights were found, or if
    entries above tau are missing.

    Parameters
    ----------
    problem : Problem
    remainder : Remainder
        Entries of A above a level. It must be at most tau.
    rows : (r,) int
        Features of the core, forced ones first.
    tau : float
        Threshold outside the core.
    t : float
        Desired spectral claim. It is raised if the remainder outside the core needs more.
    v : (r,) float64, optional
        Vector for which v'Kv is made small; the vector of ones by default.
    """
    A = problem.covariance
    # For signed problems |W_ij| <= tau must hold despite rounding errors.
    tau = tau if problem.nonneg else max(tau, 4 * entry_error(A))
    if tau < remainder.level:
        return None
    others = features_outside(problem.n, rows)
    NOO, NOR = _outside(problem, remainder, rows, others, tau)
    felt = np.abs(NOR) @ (np.ones(rows.size) if v is None else np.abs(v))
    top = felt.max(initial=0.0)
    b = felt / top + EVEN if top > 0 else np.ones(others.size)
    t = max(t, (ROOM if rows.size else NEAR) * largest_eigenvalue(NOO))
    y = weights(NOO, b, t)
    return None if y is None else _fold_remainder(problem, rows, tau, t, y, NOO, NOR)


def with_weights(
    problem: Problem, rows: np.ndarray, tau: float, t: float, y: Array, scales: Array | None = None
) -> Kept | None:
    """Return the rows of a core with given weights y (n - r,) of the other features, as in a certificate.

    With scales (r,) of the core, all at least 1, an entry with its feature i is left above ``tau scales_i``.
    None where t is too small for the weights, or tau so small that its entries do not fit into memory.
    """
    others = features_outside(problem.n, rows)
    remainder = collect(problem.covariance, problem.nonneg, tau)
    if remainder.level > tau:
        return None
    return _fold_remainder(problem, rows, tau, t, y, *_outside(problem, remainder, rows, others, tau, scales))


def at_threshold(problem: Problem, kept: Kept, tau: float, scales: Array | None = None) -> Kept | None:
    """Return kept rows with the K of a threshold tau, at least the floor, and of scales of the rows, which
    are at least 1: the checker forms K with those of the certificate. None if K cannot be formed.
    """
    if kept.weights is None or kept.rows is None or kept.folded is None:
        return kept
    if scales is None and (tau <= kept.floor or not kept.folded.any()):
        return kept
    return with_weights(problem, kept.rows, tau, kept.outside, kept.weights, scales)


def features_outside(n: int, rows: np.ndarray) -> np.ndarray:
    """Return the features (n - r,) that are not in a core, in increasing order."""
    left = np.ones(n, dtype=bool)
    left[rows] = False
    return np.flatnonzero(left)


def _outside(
    problem: Problem,
    remainder: Remainder,
    rows: np.ndarray,
    others: np.ndarray,
    tau: float,
    scales: Array | None = None,
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return ``|N|`` among the features outside the core, and N between these and the core.

    Entries that are rounded up in ``|N|`` only need a larger t. In N they could make K smaller in some
    direction, so these are formed in double precision.
    """
    N = remainder.above(tau, signs=True)[others]
    NOO, NOR = abs(N[:, others]), sp.csr_array(N[:, rows])
    in_single, kept = read_in_single(problem.covariance), NOR.indices
    if scales is None and not in_single:
        return NOO, NOR
    entries, limits = NOR.data + np.copysign(tau, NOR.data), np.full(kept.size, tau)
    if scales is not None:
        limits *= scales[kept]
    if in_single:
        entries = in_double(problem.covariance, np.repeat(others, np.diff(NOR.indptr)), rows[kept])
    sizes = entries if problem.nonneg else np.abs(entries)
    NOR.data = np.copysign(np.maximum(sizes - limits, 0.0), entries)
    NOR.eliminate_zeros()
    return NOO, NOR


def relief(problem: Problem, kept: Kept, scales: Array, X: Array) -> Array:
    """Return how fast <K, X> / 2 falls with each limit ``tau scales_i``, (r,), tau the floor.

    X (r, r) is the derivative of a bound in K. An entry of N falls as its limit rises.
    """
    assert kept.rows is not None
    assert kept.weights is not None
    others = features_outside(problem.n, kept.rows)
    remainder = collect(problem.covariance, problem.nonneg, kept.floor)
    NOO, NOR = _outside(problem, remainder, kept.rows, others, kept.floor, scales)
    gain = kept.outside - (NOO @ kept.weights) / kept.weights * SAFE
    used = np.flatnonzero(np.diff(NOR.indptr))
    N = NOR[used]
    pulled = (N @ X) / gain[used][:, None]
    return np.maximum(np.asarray(N.sign().multiply(pulled).sum(axis=0)).ravel(), 0.0)


def opened(problem: Problem, kept: Kept, t: float) -> Kept:
    """Return kept rows of safe elimination with weights for the features outside, and a lower floor for them.

    Variances outside, and the few other entries above that floor, then count in the spectral half. They
    are far below its claim, of which t is an estimate. Kept rows are to have larger scales (see
    docs/certificates.md), with which K is formed. They are returned as they are where no floor of `OPENED`
    allows a small K, or where the present floor costs hardly anything.
    """
    A = problem.covariance
    if kept.rows is None or not kept.free or kept.weights is not None:
        return kept
    if sum(problem.sizes) * kept.floor <= COSTLY * t:
        return kept
    for share in OPENED:
        tau = share * kept.floor
        if not can_be_read(A, tau):
            return kept
        wider = with_core(problem, collect(A, problem.nonneg, tau), kept.rows, tau, HALF * t)
        if wider is None or wider.weights is None or wider.outside > HALF * t:
            continue
        # with these scales the terms of kept rows stay as they are
        wider = at_threshold(problem, wider, wider.floor, np.full(kept.rows.size, share**-0.5))
        if wider is not None and wider.folded is not None and np.trace(wider.folded) <= FOLDED * t:
            return wider
    return kept


def _fold_remainder(
    problem: Problem, rows: np.ndarray, tau: float, t: float, y: Array, NOO: sp.csr_array, NOR: sp.csr_array
) -> Kept | None:
    """Return the rows of a core whose block is ``A_RR + K``; None if t is not above every d_i.

    `NOO` is ``|N|`` among the features outside the core, and `NOR` is N between these and the core.
    """
    A = problem.covariance
    d = (NOO @ y) / y * SAFE
    most = float(d.max(initial=0.0))
    t = t if rows.size else most
    used = np.flatnonzero(np.diff(NOR.indptr))
    gain = t - d[used]
    if most > t or (gain <= 0).any():
        return None
    half = sp.csr_array(sp.diags_array(1 / np.sqrt(gain)) @ NOR[used])
    K = (half.T @ half).toarray()
    K[np.diag_indices_from(K)] += _rounding_error(A, half, gain)
    block = A.block(rows) if rows.size else np.zeros((0, 0))
    fixed = len(problem.forced)
    return Kept(rows, block + K, tau, free=y.size, fixed=fixed, weights=y, folded=K, outside=t)


def _rounding_error(A: Covariance, half: sp.csr_array, gain: Array) -> float:
    """Return a bound on the spectral norm of the rounding error of K when a checker recomputes N and K."""
    if not half.nnz:
        return 0.0
    size = float(np.linalg.norm(half.data))
    of_entries = 4 * size * entry_error(A) * np.sqrt(half.nnz / gain.min())
    return SLACK * UNIT_ROUNDOFF * (half.shape[0] + 64) * size**2 + float(of_entries)


def weights(N: sp.csr_array, b: Array, t: float) -> Array | None:
    """Return positive weights y that nearly solve ``(t I - N) y = b``; None if a weight is not positive.

    A solution with b > 0 is positive when t exceeds the largest eigenvalue of N.
    """
    y = _solve(N, t, b) if N.nnz else np.ones(b.size)
    if not np.isfinite(y).all() or y.min(initial=1.0) <= 0:
        return None
    return np.maximum(y / y.max(initial=SMALLEST), SMALLEST)
