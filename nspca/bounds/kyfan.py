"""Joint dual: a bound on what r disjoint components reach together, and how its one matrix W is found.

With `P = sum x_j x_j'`, a projection of rank r with `1'|P|1 <= S`, S the sum of sizes, any symmetric W gives

    OPT_joint <= (sum of the r largest eigenvalues of A - W, each at least 0) + S tau,
    tau = max(0, max W)   (signed: max |W|).

W = 0 is Ky Fan's theorem; W = min(A, tau) the threshold choice; the best W is the dual variable of

    max <A, X>   over   0 <= X <= I, tr X <= r, X >= 0, <J, X> <= S   (signed: sum |X_ij| <= S),

found by the same ADMM as for one component. Every iterate is valid, so the best one is kept and only that one
is proved. With many features all but some rows are eliminated as in `elimination`: W_ij = A_ij <= tau there,
which leaves eigenvalues 0. Where the best tau is the largest entry left out, it would be smaller if less
were.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.dual.rounds import Work
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import spectral_claim, threshold
from nspca.bounds.plan import JOINT_PLANS, JointPlan
from nspca.certificate import Certificate
from nspca.covariance.covariance import DIRECT_LIMIT
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs
from nspca.errors import Cancelled, NotConverged, Refused
from nspca.problem import Problem
from nspca.progress import silent

LOOK = 10
"""Steps between two evaluations of the bound."""
WIDE, PATIENCE = 0.05, 3
"""A run of steps is left when this many looks in a row close less than the plan's share of the gap, or of
this much of the bound."""
SLACK = 1e-7
"""A spectral claim that had to be raised by this share of the size of the matrix is not worth having."""


def allowed(plan: JointPlan, kept: int) -> int:
    """Steps of all runs of a plan."""
    return len(plan.rhos) * plan.steps_of(kept) if kept else 0


def kept_rows(problem: Problem, plan: JointPlan, number: int) -> Kept:
    """That many rows, or all of them where the plan allows that and elimination gains nothing."""
    kept = elimination.keep(problem, number)
    futile = kept.rows is not None and 2 * kept.floor > problem.covariance.diagonal.max()
    return elimination.all_rows(problem) if futile and problem.n <= plan.whole else kept


def of_weights(problem: Problem, kept: Kept, W: Array) -> Certificate:
    """The bound of a symmetric W on the kept rows, whatever it is."""
    return KyFan(problem, JOINT_PLANS["fast"], 0.0, report=silent, kept=kept, best=W).proved(None)


@dataclass(eq=False, kw_only=True)
class KyFan(Work[JointPlan]):
    """One run, on the rows that are kept.

    Attributes
    ----------
    best, X : the W of `upper`, which is not rounded yet, None for W = 0; and the X it was found with, if any
    before : what runs on fewer rows proved
    last : whether no run on more rows follows
    rho : the penalty that W was found with
    end : steps that are made by the end of this run
    after : of all steps, those that are left to what follows
    """

    stage = "joint proof"
    kept: Kept
    best: Array | None = None
    X: Array | None = None
    before: Certificate | None = None
    last: bool = True
    rho: float = 0.0
    end: int = 0
    after: int = 0

    def __post_init__(self) -> None:
        self.rho = self.plan.rhos[0]

    @property
    def shown(self) -> float | None:
        """The best bound so far, of the runs before too."""
        own, before = super().shown, self.before
        if own is None or before is None:
            return own if before is None else before.upper
        return min(own, before.upper)

    @property
    def ends(self) -> bool:
        """Tell whether the work is done: the bound would not be smaller if less had been left out."""
        if self.last or self.closed or self.kept.rows is None or self.best is None:
            return True
        return threshold(self.best, self.problem.nonneg, self.kept.floor) > self.kept.floor

    def run(self) -> Certificate:
        r = len(self.kept.block)
        self.end = self.steps + allowed(self.plan, r)
        self.total, pairs = max(self.total, self.end + self.after), None
        try:
            pairs = self.ky_fan()
            if pairs is not None:
                self.tell()
            if not self.closed:
                self.search_threshold()
            for rho in self.plan.rhos if r else ():
                if not self.closed:
                    self.iterate(rho)
            return self.proved(pairs)
        except Cancelled as stop:
            self.report = silent
            if pairs is not None or self.best is not None:
                stop.best = self.proved(pairs)
            raise

    # --- choices of W ---------------------------------------------------------------------------------------
    def ky_fan(self) -> tuple[Array, Array] | None:
        """W = 0 on all features: the r leading eigenpairs of A; None when they cannot be had at this size."""
        A, r = self.problem.covariance, len(self.problem.sizes)
        try:
            if min(A.n, A.shape[0]) > self.plan.factorised:
                return None  # nothing of that size can be factorised, or soon
            pairs = A.leading(r) if A.n <= DIRECT_LIMIT or 4 * r < A.n else largest_eigenpairs(A.matrix, r)
        except (NotConverged, Refused):  # other choices of W need fewer rows
            return None
        self.upper = float(np.maximum(pairs[0], 0.0).sum())
        return pairs

    def search_threshold(self) -> None:
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

    def iterate(self, rho: float) -> None:
        """W of the ADMM, until its bound hardly falls."""
        sizes = self.problem.sizes
        splitting = Splitting(self.kept, sum(sizes), self.problem.nonneg, rho=rho, count=len(sizes))
        end = self.steps + self.plan.steps_of(len(self.kept.block))
        own, idle = np.inf, 0
        while self.steps < end and not self.closed and idle < PATIENCE:
            for _ in range(min(LOOK, end - self.steps)):
                splitting.step()
                self.steps += 1
            W = splitting.entries.W
            before, reached = self.upper, self.offer((W + W.T) / 2)
            if reached < before:
                self.rho, self.X = rho, splitting.X.copy()
            idle = idle + 1 if own - reached < self.plan.stall * min(own - self.lower, WIDE * own) else 0
            own = min(own, reached)
        self.steps = end

    def offer(self, W: Array) -> float:
        """The bound of W; kept if it is the best."""
        sizes = self.problem.sizes
        values = largest_eigenpairs(self.kept.block - W, len(sizes))[0]
        tau = threshold(W, self.problem.nonneg, self.kept.floor)
        upper = self.kept.largest(values, len(sizes)) + sum(sizes) * tau
        if upper < self.upper:
            self.upper, self.best = upper, W
        self.tell()
        return upper

    # --- proof ----------------------------------------------------------------------------------------------
    def proved(self, pairs: tuple[Array, Array] | None) -> Certificate:
        """Certificate of the best W; should its spectral claim fail, of a threshold, on the kept rows."""
        if self.best is None and pairs is not None:
            upper, witness = claimed(self.problem, pairs)
            if np.isfinite(upper):
                return self.finished(upper, witness)
            self.upper = np.inf
            self.search_threshold()
        W, rows, sizes = self.best, self.kept.rows, self.problem.sizes
        assert (
            W is not None
        )  # without Ky Fan's pairs nothing is closed before a threshold was offered, and the first is kept
        tau = threshold(W, self.problem.nonneg, self.kept.floor)
        pairs = largest_eigenpairs(self.kept.block - W, len(sizes))
        upper, witness = claimed(self.problem, pairs, W, rows, kept=self.kept)
        upper += sum(sizes) * tau * (1 + 4 * UNIT_ROUNDOFF)
        if not np.isfinite(upper):
            failed = "the eigenvalues of the joint bound could not be proved"
            raise Refused(f"{failed}; the matrix is badly scaled, rescale the data")
        witness |= {"W": W} if rows is None else {"W": W, "rows": rows, "tau": np.array([tau])}
        witness |= {} if self.kept.weights is None else {"y": self.kept.weights}
        return self.finished(upper, witness)

    def finished(self, upper: float, witness: dict[str, Array]) -> Certificate:
        self.upper = float(upper)
        self.steps = self.total - self.after if self.ends else self.end
        self.tell()
        return Certificate.of(self.problem, "J", "joint", upper, witness)


def claimed(
    problem: Problem,
    pairs: tuple[Array, Array],
    N: Array | None = None,
    rows: np.ndarray | None = None,
    L: Array | None = None,
    kept: Kept | None = None,
) -> tuple[float, dict[str, Array]]:
    """``r t + |U|^2`` with ``A - N - LL' <= t I + UU'`` proved, and that witness; inf if t is too large.

    Parameters
    ----------
    pairs : the leading eigenpairs of what is left; U is of the first r - 1
    N : (rows, rows) symmetric, W + sym(M); None: zero
    rows : (rows,) int, kept; None: all
    L : (rows, d), a lift; None: zero
    kept : Kept, optional
        The rows with what is felt on them of other features, whose K is taken from N, and which t bounds.
    """
    A, r, (values, vectors) = problem.covariance, len(problem.sizes), pairs
    least = 0.0 if kept is None else kept.outside
    low = max(least, float(values[r - 1])) if values.size >= r else least
    if N is not None and kept is not None and kept.folded is not None:
        N = N - kept.folded
    U = vectors[:, : r - 1] * np.sqrt(np.maximum(values[: r - 1] - low, 0.0))
    size = A.trace if rows is None else float(A.diagonal[rows].sum())
    size += 0.0 if N is None else float(np.linalg.norm(N))
    try:
        t = spectral_claim(A, U if L is None else np.hstack((U, L)), low, rows, N) if size > 0 else 0.0
    except (NotConverged, Refused):
        return np.inf, {}
    if t - low > SLACK * size:
        return np.inf, {}
    upper = (r * t + float(np.sum(U * U))) * (1 + (U.size + r) * 4 * UNIT_ROUNDOFF)
    return upper, {"U": U, "claims": np.array([t, 0.0])}
