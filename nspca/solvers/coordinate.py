"""Find r nonnegative components together by coordinate ascent, with one quartic per entry: NSPCA (2006).

    maximise  1/2 tr U'AU - alpha/4 |I - U'U|^2 - beta sum(U)   over U >= 0, (n, r)

Idea: in one entry of U the objective is a quartic with exact nonnegative maximiser (eq. 4-5): the largest
root of a cubic, or 0. alpha pulls the components towards orthonormal, which for nonnegative ones means
disjoint. beta makes them sparse. A hard k is reached by bisection on beta (as in Sigg & Buhmann 2008, Section
5.2). No beta reaches some cardinalities; then ``info["reached"]`` is false. Units: A is divided by m and then
by its largest eigenvalue l1, so alpha and beta are plain numbers near 1. The weights of the paper, for XX',
are ``m l1`` times as large (`from_paper`).
Guarantee: a point no single entry can improve, no bound.
Cost: O(n^2 r) per sweep; Au is kept up to date. Entries whose best value is still 0 are found for all
features at once and skipped. The others are taken in blocks, so nothing n x n is formed when n is large. The
answer is made feasible last: every feature goes to the component where it is largest, the k largest of each
component stay, and their weights are refitted.
Reference: Zass & Shashua 2006, eq. 3-5, Algorithm 1.
"""

# Called by `nspca.solving`, through `METHODS`; items of the papers call `paper_columns` and `from_paper`.

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from nspca.covariance.linalg import Array, normalised, normalised_columns, topk_indices
from nspca.errors import InvalidOption
from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions, check_whole

BLOCK = 500
"""Maximum number of features whose block of A is formed at once: 2 MB."""
BISECTION = 1e-5
"""Relative length of the interval of beta that ends the search (Sigg & Buhmann 2008, Section 5.2)."""
DOUBLINGS = 60
"""Maximum doublings of beta until few enough entries are left; a beta this large leaves none."""
CUBIC_ONLY = 1e15
"""Ratio of ``c1 / alpha`` to ``2 m^3`` above which the quadratic term is lost in float64.

The maximiser is then a cube root.
"""
HEAVIEST = 1e30
"""Largest alpha; its inverse is the smallest. Beyond, A or the quartic is lost in float64."""
SAME = 1e-6
"""Starts count as equal when all cosines of their solutions for beta = 0 are above 1 minus this."""


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `coordinate`.

    Attributes
    ----------
    alpha : float
        Weight of orthonormality, in units of l1. The paper's 2e7 and 5e8 are 0.0163 and 0.407 on the faces
        with grey levels from 0 to 255, every pixel centred.
    beta : float or None
        Weight of sparsity, in units of l1. When None, bisection finds the weight that leaves k entries.
    restarts : int
        Number of random starts; see `first_guess`.
    iterations : int
        Maximum number of sweeps for one beta.
    tol : float
        Relative gain of a sweep below which the ascent has converged.
    polish : bool
        Improve a single component by power steps on the full A. Without it the answer is that of the paper,
        with the best weights on its support.
    """

    alpha: float = 1.0
    beta: float | None = field(default=None, metadata={"least": 0})
    restarts: int = 5
    iterations: int = 300
    tol: float = 1e-7
    polish: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 / HEAVIEST <= self.alpha <= HEAVIEST:
            raise InvalidOption(
                f"alpha must be between {1 / HEAVIEST:g} and {HEAVIEST:g}, got {self.alpha!r}"
            )


def from_paper(problem: Problem, weight: float) -> float:
    """Return `Options.alpha` or `beta` for a weight of the paper, which is for XX' in data units."""
    if problem.covariance.source != "data":
        raise InvalidOption(
            "a weight for XX' needs data, got a covariance matrix; give alpha and beta in units of its "
            "largest eigenvalue"
        )
    return weight / (problem.covariance.shape[0] * problem.leading_eigenvalue)


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the best answer of all starts: one component for one k, disjoint ones for a tuple of sizes."""
    sizes = problem.sizes
    rng = np.random.default_rng(seed)
    best: tuple[float, Array, Array, float] | None = None
    seen: list[Array] = []
    for start in range(options.restarts):
        search = Search(problem, first_guess(problem, len(sizes), start, rng), options, report, start)
        if any(same(search.dense, other) for other in seen):
            continue
        seen.append(search.dense)
        U, beta = (
            search.reach(sum(sizes)) if options.beta is None else (search.at(options.beta), options.beta)
        )
        X = ascent.on_supports(problem, feasible(problem, U, sizes))
        value = sum(problem.covariance.quadratic(x) for x in X.T)
        if best is None or value > best[0]:
            best = value, X, U, beta
    assert best is not None  # the first start is never skipped
    _, X, U, beta = best
    if options.polish and len(sizes) == 1:
        X = ascent.polish(problem.with_k(sizes[0]), X[:, 0])[:, None]
    entries = int(np.count_nonzero(U))
    info = {
        "alpha": options.alpha,
        "beta": float(beta),
        "cardinality": entries,
        "reached": entries == sum(sizes),
    }
    return Result.of(problem, X, Status.HEURISTIC, "coordinate", **info, overlap=overlap(U))


def paper_columns(
    problem: Problem, rank: int, options: Options, seed: int = 0, report: Report = silent
) -> Array:
    """Return the columns of the paper's own algorithm: `rank` nonnegative columns found together.

    The columns are not made disjoint, truncated or reweighted; `solve` does that to give k entries. The start
    with the largest objective (eq. 3) wins.

    Parameters
    ----------
    rank : int
        Number of columns.
    options : Options
        With a `beta`.

    Returns
    -------
    U : (n, rank), nonnegative, columns of about length 1 when alpha is large
    """
    if options.beta is None:
        raise InvalidOption("the paper's own columns need a beta, got None: give a number, 0 for none")
    check_whole("rank", rank, 1, problem.n)
    rng, beta = np.random.default_rng(seed), options.beta
    answers = [
        Search(problem, first_guess(problem, rank, start, rng), options, report, start).at(beta)
        for start in range(options.restarts)
    ]
    return max(answers, key=lambda U: objective(problem, U, options.alpha, beta))


def first_guess(problem: Problem, r: int, start: int, rng: np.random.Generator) -> Array:
    """Return nonnegative unit columns (n, r) to start from.

    The first start has random positive entries; later ones are positive parts of random points of the range
    of A. Random positive vectors all lie near the vector of equal entries, so several of them mostly lead to
    one answer.
    """
    U = rng.standard_normal((problem.n, r))
    U = np.abs(U) if start == 0 else np.maximum(problem.covariance.product(U), 0.0)
    U[:, ~U.any(axis=0)] = 1.0
    return np.column_stack([normalised(u) for u in U.T])


def same(U: Array, other: Array) -> bool:
    """Tell whether the columns of two matrices point the same way, in the same order."""
    lengths = np.linalg.norm(U, axis=0) * np.linalg.norm(other, axis=0)
    return bool(np.all(np.einsum("ij,ij->j", U, other) >= (1 - SAME) * lengths))


class Search:
    """Solutions for one start as a function of beta; each ascends from the solution for beta = 0."""

    def __init__(self, problem: Problem, U: Array, options: Options, report: Report = silent, start: int = 0):
        self.problem, self.options, self.report, self.start = problem, options, report, start
        self.found: dict[float, Array] = {}
        self.dense = np.zeros_like(U) if problem.leading_eigenvalue == 0 else self._climbed(U, 0.0)

    def at(self, beta: float) -> Array:
        """Return U (n, r) for this beta, computed once."""
        if beta not in self.found:
            self.found[beta] = (
                self._climbed(self.dense, beta) if beta > 0 and self.dense.any() else self.dense
            )
        return self.found[beta]

    def reach(self, count: int) -> tuple[Array, float]:
        """Return U with `count` entries, and its beta.

        When no beta gives that many entries, U has the next larger number that was found.
        """
        high = 1e-3
        for _ in range(DOUBLINGS):
            if np.count_nonzero(self.at(high)) <= count:
                break
            high *= 2
        low, width = 0.0, BISECTION * high
        while high - low > width and np.count_nonzero(self.at(low)) > count != np.count_nonzero(
            self.at(high)
        ):
            middle = (low + high) / 2
            low, high = (middle, high) if np.count_nonzero(self.at(middle)) > count else (low, middle)
        beta = high if np.count_nonzero(self.at(high)) == count else low
        return self.at(beta), beta

    def _climbed(self, U: Array, beta: float) -> Array:
        def tell(sweep: int, value: float) -> None:
            self.report(
                Event(
                    "sweeps",
                    self.start,
                    self.options.restarts,
                    payload={"beta": beta, "sweep": sweep, "objective": value},
                )
            )

        return climb(
            self.problem, U, self.options.alpha, beta, self.options.iterations, self.options.tol, tell
        )


def climb(
    problem: Problem,
    U: Array,
    alpha: float,
    beta: float,
    iterations: int,
    tol: float,
    tell: Callable[[int, float], object] = lambda sweep, value: None,
) -> Array:
    """Return U (n, r) after sweeps, until one gains less than `tol` of the variance explained.

    ``tell(sweep, objective)`` is called before each sweep.
    """
    A, l1, U, before = problem.covariance, problem.covariance.leading(1)[0][0], U.copy(), -math.inf
    for sweep in range(iterations):
        G, M = A.product(U) / l1, U.T @ U
        explained = float(np.vdot(U, G))
        value = _objective(explained, M, U, alpha, beta)
        tell(sweep, value)
        if value - before <= tol * explained:
            break
        before = value
        c2, c1 = coefficients(A.diagonal[:, None] / l1, G, U, M, alpha, beta)
        moving = np.flatnonzero(((U > 0) | (maximisers(c2, c1, alpha) > 0)).any(axis=1))
        for part in range(0, moving.size, BLOCK):
            features = moving[part : part + BLOCK]
            old = U[features]
            U[features] = swept(A.block(features) / l1, G[features], old, M, alpha, beta)
            if part + BLOCK < moving.size:
                step = np.zeros_like(U)
                step[features] = U[features] - old
                G = G + A.product(step) / l1
    return U


def objective(problem: Problem, U: Array, alpha: float, beta: float) -> float:
    """Return eq. 3 in units of l1: ``tr U'AU / 2 - alpha/4 |I - U'U|^2 - beta 1'U1``."""
    l1 = float(problem.covariance.leading(1)[0][0])
    explained = float(np.vdot(U, problem.covariance.product(U))) / l1 if l1 > 0 else 0.0
    return _objective(explained, U.T @ U, U, alpha, beta)


def _objective(explained: float, M: Array, U: Array, alpha: float, beta: float) -> float:
    """Return eq. 3 from ``tr U'AU`` in units of l1 and ``M = U'U``."""
    away = float(np.square(np.eye(U.shape[1]) - M).sum())
    return explained / 2 - alpha / 4 * away - beta * float(U.sum())


def coefficients(
    diagonal: Array, G: Array, U: Array, M: Array, alpha: float, beta: float
) -> tuple[Array, Array]:
    """Return c2 and c1 of eq. 4 for rows U (s, r), from ``G = AU`` on them and ``M = U'U`` of all."""
    rows = np.square(U).sum(axis=1, keepdims=True)
    c2 = diagonal + alpha - alpha * (np.diag(M) - U**2) - alpha * (rows - U**2)
    c1 = G - diagonal * U - alpha * (U @ M - U * np.diag(M) - U * (rows - U**2)) - beta
    return c2, c1


def swept(block: Array, G: Array, U: Array, M: Array, alpha: float, beta: float) -> Array:
    """Return the rows U (s, r) after each entry was set once to the maximiser of its quartic.

    `block` (s, s) is A on these rows, and ``G = AU`` (s, r) before. U and G stay as they are, and
    ``M = U'U`` (r, r) of all rows is updated in place.
    """
    U, diagonal = U.copy(), np.diag(block).tolist()
    for j in range(U.shape[1]):
        g, others = G[:, j].copy(), np.delete(U, j, axis=1)
        shared, mine = np.delete(M[j], j), float(M[j, j])
        rest = np.square(others).sum(axis=1).tolist()
        for s, (u, a, square) in enumerate(zip(U[:, j].tolist(), diagonal, rest, strict=True)):
            crossing = float(others[s] @ shared) - u * square if square else 0.0
            c2 = a + alpha - alpha * (mine - u * u) - alpha * square
            new = maximiser(c2, float(g[s]) - a * u - alpha * crossing - beta, alpha)
            if new != u:
                g += (new - u) * block[s]
                mine += new * new - u * u
                shared += (new - u) * others[s]
                U[s, j] = new
        M[j, j] = mine
        M[j, np.arange(M.shape[0]) != j] = M[np.arange(M.shape[0]) != j, j] = shared
    return U


def maximiser(c2: float, c1: float, alpha: float) -> float:
    """Return the maximiser over u >= 0 of ``-alpha/4 u^4 + c2/2 u^2 + c1 u``.

    The maximiser is 0 or the largest root of the derivative ``-alpha u^3 + c2 u + c1``. By Descartes' rule
    there is one positive root when c1 > 0. When c1 <= 0, the smaller of two positive roots is a minimum. With
    ``m = sqrt(|c2| / 3 alpha)`` and ``t = c1 / (2 alpha m^3)`` that root is ``2 m cos(arccos(t)/3)`` or ``2 m
    cosh(arcosh(t)/3)`` for c2 > 0, ``2 m sinh(arsinh(t)/3)`` for c2 < 0 (Vieta).
    """
    m = math.sqrt(abs(c2) / (3 * alpha))
    scale = 2 * alpha * m**3
    if c1 > CUBIC_ONLY * scale:
        return math.cbrt(c1 / alpha)
    if c2 <= 0 or scale == 0.0:  # scale is 0 where the cube of c2 underflows, and then c1 <= 0
        return 2 * m * math.sinh(math.asinh(c1 / scale) / 3) if c1 > 0 else 0.0
    t = c1 / scale
    if t < -1:
        return 0.0
    u = 2 * m * (math.cos(math.acos(t) / 3) if t <= 1 else math.cosh(math.acosh(t) / 3))
    return u if c1 + c2 * u / 2 - alpha * u**3 / 4 > 0 else 0.0


def maximisers(c2: Array, c1: Array, alpha: float) -> Array:
    """Return `maximiser` for each entry of arrays."""
    m = np.sqrt(np.abs(c2) / (3 * alpha))
    scale = 2 * alpha * m**3
    cubic = c1 > CUBIC_ONLY * scale
    t = np.where(cubic, 0.0, c1) / np.where(scale > 0, scale, 1.0)
    inside, beyond = np.cos(np.arccos(np.clip(t, -1, 1)) / 3), np.cosh(np.arccosh(np.maximum(t, 1)) / 3)
    u = 2 * m * np.where(c2 > 0, np.where(t <= 1, inside, beyond), np.sinh(np.arcsinh(np.maximum(t, 0)) / 3))
    u = np.where(cubic, np.cbrt(c1 / alpha), np.where(t < -1, 0.0, u))
    return np.where(c1 + c2 * u / 2 - alpha * u**3 / 4 > 0, u, 0.0)


def feasible(problem: Problem, U: Array, sizes: Sequence[int]) -> Array:
    """Return disjoint unit components from U (n, r).

    Each feature goes to the column where it is largest, after columns are brought to length 1. The largest
    entries of each column are kept. A column without entries gets the unused feature of largest variance.
    """
    U = normalised_columns(U)
    X = np.where(np.arange(len(sizes)) == np.argmax(U, axis=1)[:, None], U, 0.0)
    for j, size in enumerate(sizes):
        cut = np.zeros(problem.n)
        keep = topk_indices(X[:, j], size)
        cut[keep] = X[keep, j]
        X[:, j] = cut
    for empty in np.flatnonzero(~X.any(axis=0)):
        free = np.flatnonzero(~X.any(axis=1))
        X[free[np.argmax(problem.covariance.diagonal[free])], empty] = 1.0
    return X / np.linalg.norm(X, axis=0)


def overlap(U: Array) -> float:
    """Return ``|I - U'U|`` (Frobenius) for columns brought to length 1; 0 for disjoint columns (Fig. 3a)."""
    norms = np.linalg.norm(U, axis=0)
    U = U / np.where(norms > 0, norms, 1.0)
    return float(np.linalg.norm(np.diag(np.where(norms > 0, 1.0, 0.0)) - U.T @ U))
