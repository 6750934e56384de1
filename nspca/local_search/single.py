"""Improve one component monotonically on the full A: the power step, the best vector on a support, and swaps.

For psd A the step from x to ``y = rank1(Ax)`` cannot lower the value. Of all feasible vectors y has the
largest y'Ax, so ``x'Ax <= y'Ax <= sqrt(x'Ax y'Ay)`` by Cauchy-Schwarz, and x'Ax <= y'Ay. So each step here is
an ascent. Nearly all methods use these functions, and `bounds` does for answers met by a search.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nspca.covariance.covariance import DIRECT_LIMIT, Covariance
from nspca.covariance.linalg import Array, largest_eigenpairs, normalised, rank1, rank1_columns
from nspca.local_search.removal import replacements
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

GAIN = 1e-12
"""Relative gain below which an ascent has stopped: four digits above rounding."""
POWER_CAP = 500
"""Maximum power steps. The value is valid at every step, so stopping early only gives up gain."""
SWAP_CAP = 200
"""Maximum swaps. Stopping early only gives up gain."""
TRIED = 24
"""Maximum number of swaps, the most promising first, that are solved on their support in one step."""


def power(problem: Problem, X: Array) -> Array:
    """Return X (n, r) after `power_steps`, at most `POWER_CAP`."""
    return power_steps(problem, X, POWER_CAP)[0]


def power_steps(problem: Problem, X: Array, most: int, report: Report = silent) -> tuple[Array, int]:
    """Apply power steps to all columns of X (n, r) until none gains; return X and the number of steps.

    Each step keeps at most k nonzeros.
    """
    A, rule = problem.covariance, (problem.size, problem.nonneg, problem.forced)
    X = rank1_columns(X, *rule)
    values, active = np.zeros(X.shape[1]), np.arange(X.shape[1])
    for step in range(most):
        image = A.product(X[:, active])
        reached = np.einsum("ij,ij->j", X[:, active], image)
        going = reached > values[active] * (1 + GAIN)
        values[active] = np.maximum(reached, 0.0)
        report(Event("power steps", step, most, lower=float(values.max()) * A.unit, k=problem.size))
        active = active[going]
        if active.size == 0:
            return X, step
        X[:, active] = rank1_columns(image[:, going], *rule)
    return X, most


def best_on_support(block: Array, x: Array, nonneg: bool) -> Array:
    """Return the best unit vector for ``block`` (s, s), starting from x (s,).

    The answer is exact when signed, or when the leading eigenvector has one sign.

    For nonnegative x and a leading eigenvector of mixed signs the problem is NP-hard on one support too.
    Projected power steps from x are used then.
    """
    if x.size == 0:
        return x
    leading = largest_eigenpairs(block, 1)[1][:, 0]
    if not nonneg:
        return leading
    leading = leading * (1.0 if leading.sum() >= 0 else -1.0)
    if leading.min() >= 0:
        return leading
    best, value = x, float(x @ block @ x)
    for start in (x, np.maximum(leading, 0.0)):
        y = _nonnegative_steps(lambda y: block @ y, start)
        positive = np.flatnonzero(y > 1e-9)
        y = _solve_part(block, y, positive)
        reached = float(y @ block @ y)
        if reached > value:
            best, value = y, reached
    return best


def best_weights(A: Covariance, support: NDArray[np.int64], x: Array, nonneg: bool) -> Array:
    """Return `best_on_support` for features of A, from x (s,), by products alone on a large `support`."""
    if support.size <= DIRECT_LIMIT:
        return best_on_support(A.block(support), x, nonneg)
    part = A.restrict(support)
    leading = part.leading(1)[1][:, 0]
    if not nonneg:
        return leading if leading.any() else x
    leading = leading * (1.0 if leading.sum() >= 0 else -1.0)
    found = [x, *(_nonnegative_steps(part.product, start) for start in (x, leading) if start.any())]
    return max(found, key=part.quadratic)


def _nonnegative_steps(product: Callable[[Array], Array], start: Array) -> Array:
    """Apply projected power steps from the positive part of `start` until convergence, or none is positive.

    A deflated matrix can be negative by rounding. The zero vector would then explain more, but is no
    component.
    """
    y = normalised(np.maximum(start, 0.0))
    for _ in range(POWER_CAP):
        new = normalised(np.maximum(product(y), 0.0))
        if not new.any() or np.abs(new - y).max() <= 1e-10:
            break
        y = new
    return y


def _solve_part(block: Array, y: Array, positive: NDArray[np.int64]) -> Array:
    """Return the leading eigenvector on the positive part of y if of one sign: the limit of the steps."""
    if positive.size == 0:
        return y
    part = block[np.ix_(positive, positive)]
    leading = largest_eigenpairs(part, 1)[1][:, 0]
    leading = leading * (1.0 if leading.sum() >= 0 else -1.0)
    if leading.min() < 0:
        return y
    settled = np.zeros_like(y)
    settled[positive] = leading
    return settled


def support_of(problem: Problem, x: Array) -> np.ndarray:
    """Return the features that x (n,) uses, and the forced ones, which cost nothing."""
    used = x != 0
    used[list(problem.forced)] = True
    return np.flatnonzero(used)


def on_supports(problem: Problem, X: Array) -> Array:
    """Return for each column of X (n, r) the best vector on its support, or itself where no better."""
    A, Y = problem.covariance, X.copy()
    for y in Y.T:
        support = support_of(problem, y)
        better = np.zeros_like(y)
        better[support] = best_weights(A, support, y[support], problem.nonneg)
        if A.quadratic(better) > A.quadratic(y):
            y[:] = better
    return Y


def polish(problem: Problem, x: Array) -> Array:
    """Alternate power steps on the full A and the best vector on the support until neither gains; x (n,)."""
    A = problem.covariance
    best, value = x, A.quadratic(x)
    for _ in range(POWER_CAP):
        y = power(problem, best[:, None])[:, 0]
        support = support_of(problem, y)
        z = np.zeros_like(y)
        z[support] = best_weights(A, support, y[support], problem.nonneg)
        reached = A.quadratic(z)
        if not reached > value * (1 + GAIN):
            break
        best, value = z, reached
    return best


def swaps(problem: Problem, x: Array, report: Report = silent) -> Array:
    """Exchange one feature of the support for one outside, or add one below k, until nothing gains.

    Forced features stay.

    Pairs (i out, j in) are ranked by the best vector in the span of x without i and e_j, a 2 x 2 eigenvalue.
    The first `TRIED` are then solved on their support, and the first that raises the value is made.
    """
    value = problem.covariance.quadratic(x)
    for step in range(SWAP_CAP):
        report(Event("swaps", step, SWAP_CAP, lower=value * problem.covariance.unit, k=problem.size))
        better = _best_swap(problem, x, value)
        if better is None:
            return x
        x = polish(problem, better)
        value = problem.covariance.quadratic(x)
    return x


def _best_swap(problem: Problem, x: Array, value: float) -> Array | None:
    """Return the first of the most promising swaps that raises the value, None if none does."""
    A, k = problem.covariance, problem.size
    support, allowed = np.flatnonzero(x), support_of(problem, x)
    outside, full = np.delete(np.arange(problem.n), allowed), allowed.size >= k
    if support.size == 0 or outside.size == 0:
        return None
    columns = A.columns(support)
    out, gains = two_variable_values(A, x, support, outside, columns, full, problem.nonneg)
    gains[np.isin(out, problem.forced)] = -np.inf
    for rank in np.argsort(-gains, axis=None, kind="stable")[: TRIED if k > 1 else 1]:
        i, j = np.unravel_index(rank, gains.shape)
        if gains[i, j] == -np.inf:
            break
        y = exchange_feature(problem, x, int(out[i]), int(outside[j]))
        if A.quadratic(y) > value * (1 + 1e-10):
            return y
    return None


def two_variable_values(
    A: Covariance,
    x: Array,
    support: NDArray[np.int64],
    outside: NDArray[np.int64],
    columns: Array,
    full: bool,
    nonneg: bool,
) -> tuple[NDArray[np.int64], Array]:
    """Return the features that may leave (s,), -1 for none, and the values (s, m) reached by each exchange.

    Each value is that of the component without the leaving feature and with one of the m features `outside`.
    `columns` are those of A for the features of x.
    """
    xs, others = x[support], columns[outside]
    _, values = replacements(columns[support], others, xs, others @ xs, A.diagonal[outside], not full, nonneg)
    return support if full else np.append(support, -1), values


def exchange_feature(problem: Problem, x: Array, leaving: int, entering: int) -> Array:
    """Return the best vector on the support of x without `leaving` and with `entering`."""
    features = np.union1d(np.setdiff1d(support_of(problem, x), [leaving]), [entering])
    start, at = np.where(features == entering, 0.0, x[features]), int(np.searchsorted(features, entering))
    y = np.zeros_like(x)
    y[features] = best_with(problem.covariance.block(features), start, at, problem.nonneg)
    return y


def best_with(block: Array, start: Array, at: int, nonneg: bool) -> Array:
    """Return `best_on_support` from the best vector in the span of `start` (s,), 0 at `at`, and of e_at."""
    start = normalised(start)
    cross = float(block[at] @ start)
    cross = max(cross, 0.0) if nonneg else cross
    angle = (
        np.arctan2(2 * cross, float(start @ block @ start) - block[at, at]) / 2 if start.any() else np.pi / 2
    )
    start = np.cos(angle) * start
    start[at] = np.sin(angle)
    return best_on_support(block, start, nonneg)


def starts_from(problem: Problem, a: Array) -> Array:
    """Return feasible starts (n, 1 or 2): rank-1 steps on ``a`` and, if nonnegative, on ``-a``."""
    signs = (a, -a) if problem.nonneg else (a,)
    candidates = [rank1(s, problem.size, problem.nonneg, problem.forced) for s in signs]
    return np.column_stack([c for c in candidates if np.any(c)] or [first_feature(problem)])


def first_feature(problem: Problem) -> Array:
    """Return the unit vector of the feature with the largest variance, which is always feasible."""
    able = np.arange(problem.n) if problem.room else np.array(problem.forced)
    x = np.zeros(problem.n)
    x[able[np.argmax(problem.covariance.diagonal[able])]] = 1.0
    return x


def best_of(problem: Problem, X: Array) -> Array:
    """Return the column of X (n, r) with the largest value; ties go to the first."""
    return X[:, int(np.argmax([problem.covariance.quadratic(x) for x in X.T]))]
