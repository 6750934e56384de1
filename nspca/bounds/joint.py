"""Joint dual: a bound on what r disjoint components reach together, and how its one matrix W is found.

With `P = sum x_j x_j'`, a projection of rank r with `1'|P|1 <= S`, S the sum of the sizes, any symmetric W gives

    OPT_joint <= (sum of the r largest eigenvalues of A - W, each at least 0) + S tau,   tau = max(0, max W)   (signed: max |W|).

W = 0 is Ky Fan's theorem; W = min(A, tau) the threshold choice; the best W is the dual variable of

    max <A, X>   over   0 <= X <= I, tr X <= r, X >= 0, <J, X> <= S   (signed: sum |X_ij| <= S),

found by the same ADMM as for one component. Every iterate is valid, so the best one is kept and only that one is proved. With
many features all but some rows are eliminated as in `elimination`: W_ij = A_ij <= tau there, which leaves eigenvalues 0.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from nspca.bounds import elimination
from nspca.bounds.dual import DIRECT, MARGIN, RELAXATION, Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import spectral_claim, threshold
from nspca.bounds.plan import OVERHEAD
from nspca.certificate import Certificate
from nspca.covariance import DENSE_LIMIT, DIRECT_LIMIT
from nspca.errors import InvalidOption, NotConverged, Refused
from nspca.linalg import UNIT_ROUNDOFF, Array
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

CLOSED = 1e-9
"""Relative gap at which there is nothing left to do: the size of the rounding slack."""
LOOK = 10
"""Steps between two evaluations of the bound."""
WIDE, PATIENCE = 0.05, 3
"""A run of steps is left when this many looks in a row close less than the plan's share of the gap, or of this much of the bound."""
SLACK = 1e-7
"""A spectral claim that had to be raised by this share of the size of the matrix is not worth having."""


@dataclass(frozen=True)
class Plan:
    """What an effort allows.

    Attributes
    ----------
    rows : most kept rows
    whole : most features of which all rows are kept if elimination gains nothing, as when all variances are the same
    work, steps : of one run, in entries, and the fewest and most steps that may make
    rhos : one run each, relative to the largest eigenvalue: which is best depends on how fast the eigenvalues fall
    grid : tau tried per pass
    stall : share of the gap below which a look has closed nothing
    """

    rows: int
    whole: int
    work: float
    steps: tuple[int, int]
    rhos: tuple[float, ...]
    grid: int
    stall: float

    def steps_of(self, r: int) -> int:
        """Steps with r kept rows."""
        return int(np.clip(self.work / (r * r + OVERHEAD), *self.steps))


PLANS = {
    "fast": Plan(rows=400, whole=600, work=3e6, steps=(10, 40), rhos=(0.25,), grid=5, stall=0.05),
    "standard": Plan(rows=800, whole=1000, work=4e7, steps=(30, 300), rhos=(0.25, 1.0, 0.0625), grid=8, stall=0.01),
    "thorough": Plan(rows=1000, whole=2000, work=6e8, steps=(300, 3000), rhos=(0.25, 1.0, 0.0625), grid=16, stall=0.002),
}


def certify_joint(problem: Problem, lower: float, effort: str = "standard", report: Report = silent) -> Certificate:
    """Certificate for r disjoint components of the sizes `problem.k`, sought together.

    Parameters
    ----------
    problem : Problem
        Its k is a tuple of sizes (one number counts as one size).
    lower : float
        A value known to be reached, in unit scale (0: none); it only says when to stop.
    effort : "fast" (a few steps), "standard" (seconds) or "thorough"
        Steps depend on the size alone, so the same input gives the same certificate.
    report : callable
        Gets an `Event` of stage "joint proof"; raises `Cancelled` to stop.

    Raises
    ------
    InvalidOption
        Unknown effort.
    Refused
        When no bound can be proved at this size.
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    if isinstance(problem.k, int):
        problem = problem.with_k((problem.k,))
    if problem.covariance.trace == 0.0:
        return Certificate.of(problem, "J", "joint", 0.0, {"claims": np.zeros(2)})
    plan = PLANS[effort]
    return _Run(problem, kept_rows(problem, plan), plan, max(float(lower), 0.0), report).run()


def kept_rows(problem: Problem, plan: Plan) -> Kept:
    """The rows a plan keeps."""
    kept = elimination.keep(problem, plan.rows)
    futile = kept.rows is not None and 2 * kept.floor > problem.covariance.diagonal.max()
    return elimination.all_rows(problem) if futile and problem.n <= plan.whole else kept


class Spectrum(Splitting):
    """The splitting with X in {0 <= X <= I, tr X <= count}; its one block is `Entries`."""

    def __init__(self, kept: Kept, sizes: tuple[int, ...], nonneg: bool, *, rho: float = 1.0):
        super().__init__(kept, sum(sizes), nonneg, rho=rho)
        self.count = len(sizes)
        if self.n > DIRECT and self.count + MARGIN > self.basis.shape[1]:
            self.basis = leading(self.A, self.count + MARGIN)[1]

    def step(self) -> None:
        """One pass: X, then its entries."""
        G = self.A / -self.rho
        self.entries.pull(G)
        values, vectors = self._leading(self.X - G)
        weights = capped(values, self.count)
        used = int(np.count_nonzero(weights))
        self.weights, self.vectors = weights[:used], vectors[:, :used]
        self.X = (self.vectors * self.weights) @ self.vectors.T
        if self.basis is not None:
            self.basis = np.ascontiguousarray(vectors[:, : max(used, self.count) + MARGIN])
        self.entries.update(RELAXATION)
        self.entries.settle()


def capped(values: Array, total: int) -> Array:
    """Projection of `values` (b,) onto ``{0 <= w <= 1, sum w <= total}``: ``clip(values - shift, 0, 1)``.

    The sum falls linearly between the breakpoints `values` and `values - 1`: the two around `total` give the shift.
    """
    weights = np.clip(values, 0.0, 1.0)
    if weights.sum() <= total:
        return weights
    breaks = np.unique(np.concatenate((values, values - 1.0, [0.0])))
    breaks = breaks[breaks >= 0.0]
    sums = np.clip(values - breaks[:, None], 0.0, 1.0).sum(axis=1)
    right = int(np.argmax(sums <= total))
    low, high = breaks[right - 1], breaks[right]
    shift = low + (high - low) * (sums[right - 1] - total) / (sums[right - 1] - sums[right])
    return np.clip(values - shift, 0.0, 1.0)


def leading(R: Array, count: int) -> tuple[Array, Array]:
    """The largest `count` eigenvalues of symmetric R, decreasing, and their eigenvectors; all when there are fewer."""
    if len(R) == 0:
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = scipy.linalg.eigh(R, subset_by_index=[max(len(R) - count, 0), len(R) - 1])
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


@dataclass(eq=False)
class _Run:
    problem: Problem
    kept: Kept
    plan: Plan
    lower: float
    report: Report
    upper: float = np.inf  # of the best W so far, in unit scale, before rounding
    best: Array | None = None  # W of that bound; None: Ky Fan
    steps: int = 0
    total: int = 0

    def run(self):
        r = len(self.kept.block)
        self.total = len(self.plan.rhos) * self.plan.steps_of(r) if r else 0
        pairs = self.ky_fan()
        if not self.closed:
            self.search_threshold()
        for rho in self.plan.rhos if r else ():
            if not self.closed:
                self.iterate(rho)
        return self.proved(pairs)

    # --- choices of W ------------------------------------------------------------------------------------------------------
    def ky_fan(self):
        """W = 0 on all features: the r leading eigenpairs of A, or None when they cannot be had at this size."""
        A, r = self.problem.covariance, len(self.problem.k)
        try:
            if A.n > DENSE_LIMIT and A.shape[0] > DENSE_LIMIT:
                return None  # nothing of that size can be factorised
            pairs = A.leading(r) if A.n <= DIRECT_LIMIT or 4 * r < A.n else leading(A.matrix, r)
        except (NotConverged, Refused):  # other choices of W need fewer rows
            return None
        self.upper = float(np.maximum(pairs[0], 0.0).sum())
        self.tell()
        return pairs

    def search_threshold(self):
        """W = min(A, tau), tau by two passes of a grid."""
        B, nonneg, floor, count = self.kept.block, self.problem.nonneg, self.kept.floor, self.plan.grid
        if B.size == 0:
            self.offer(np.zeros_like(B))
            return
        low, high = floor, max(floor, float((B if nonneg else np.abs(B)).max()))
        for _ in range(2):
            grid = np.linspace(low, high, count)
            values = [self.offer(elimination.clipped(B, level, nonneg)) for level in grid]
            at = int(np.argmin(values))
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, count - 1)]

    def iterate(self, rho):
        """W of the ADMM, until its bound hardly falls."""
        splitting = Spectrum(self.kept, self.problem.k, self.problem.nonneg, rho=rho)
        end = self.steps + self.total // len(self.plan.rhos)
        own, idle = np.inf, 0
        while self.steps < end and not self.closed and idle < PATIENCE:
            for _ in range(min(LOOK, end - self.steps)):
                splitting.step()
                self.steps += 1
            W = splitting.entries.W
            reached = self.offer((W + W.T) / 2)
            idle = idle + 1 if own - reached < self.plan.stall * min(own - self.lower, WIDE * own) else 0
            own = min(own, reached)
        self.steps = end

    def offer(self, W):
        """The bound of W; kept if it is the best."""
        values = leading(self.kept.block - W, len(self.problem.k))[0]
        tau = threshold(W, self.problem.nonneg, self.kept.floor)
        upper = float(np.maximum(values, 0.0).sum()) + sum(self.problem.k) * tau
        if upper < self.upper:
            self.upper, self.best = upper, W
        self.tell()
        return upper

    # --- proof -------------------------------------------------------------------------------------------------------------
    def proved(self, pairs):
        """Certificate of the best W; should its spectral claim fail, of a threshold, whose claim is on the kept rows."""
        if self.best is None:
            upper, witness = self.claimed(*pairs, None, None)
            if np.isfinite(upper):
                return self.finished(upper, witness)
            self.upper = np.inf
            self.search_threshold()
        W, rows = self.best, self.kept.rows
        tau = threshold(W, self.problem.nonneg, self.kept.floor)
        upper, witness = self.claimed(*leading(self.kept.block - W, len(self.problem.k)), W, rows)
        upper += sum(self.problem.k) * tau * (1 + 4 * UNIT_ROUNDOFF)
        if not np.isfinite(upper):
            raise Refused("the eigenvalues of the joint bound could not be proved; the matrix is badly scaled, rescale the data")
        witness |= {"W": W} if rows is None else {"W": W, "rows": rows, "tau": np.array([tau])}
        return self.finished(upper, witness)

    def finished(self, upper, witness):
        self.upper = upper
        self.steps = self.total
        self.tell()
        return Certificate.of(self.problem, "J", "joint", upper, witness)

    def claimed(self, values, vectors, W, rows):
        """``r t + |U|^2`` with ``A - W <= t I + UU'`` proved, U of the first r - 1 eigenpairs, and that witness; inf if t is too large."""
        A, r = self.problem.covariance, len(self.problem.k)
        low = max(0.0, float(values[r - 1])) if values.size >= r else 0.0
        U = vectors[:, : r - 1] * np.sqrt(np.maximum(values[: r - 1] - low, 0.0))
        size = A.trace if rows is None else float(A.diagonal[rows].sum())
        size += 0.0 if W is None else float(np.linalg.norm(W))
        try:
            t = spectral_claim(A, U, low, rows, W) if size > 0 else 0.0
        except (NotConverged, Refused):
            return np.inf, {}
        if t - low > SLACK * size:
            return np.inf, {}
        upper = (r * t + float(np.sum(U * U))) * (1 + (U.size + r) * 4 * UNIT_ROUNDOFF)
        return upper, {"U": U, "claims": np.array([t, 0.0])}

    # --- where it stands ---------------------------------------------------------------------------------------------------
    @property
    def closed(self):
        return self.upper <= self.lower * (1 + CLOSED)

    def tell(self):
        unit = self.problem.covariance.unit
        upper = self.upper * unit if np.isfinite(self.upper) else None
        self.report(Event("joint proof", self.steps, self.total, self.lower * unit, upper))
