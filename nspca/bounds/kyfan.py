"""Bound several disjoint components together by one matrix W (joint dual), and search a good W.

With ``P = sum x_j x_j'``, a projection of rank r with ``1'|P|1 <= S``, S the sum of the sizes, any symmetric
W gives

    OPT_joint <= (sum of the r largest eigenvalues of A - W, each at least 0) + S tau,
    tau = max(0, max W)   (signed: max |W|).

W = 0 gives Ky Fan's theorem, and W = min(A, tau) the threshold bound. The best W is the dual variable of

    max <A, X>   over   0 <= X <= I, tr X <= r, X >= 0, <J, X> <= S   (signed: sum |X_ij| <= S),

found by ADMM (`dual.splitting`) as for one component. Every iterate gives a valid bound. The best one is
kept, and only its bound is proved. With many features, rows are eliminated as in `elimination`. If the best
tau is the largest eliminated entry, the bound would improve with more kept rows.

`joint` runs a `KyFan` on more and more rows. `packing` continues from its W. `scripts.lean` proves one for a
rounded W.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.core import at_threshold
from nspca.bounds.dual.rounds import Work
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import spectral_claim, threshold
from nspca.bounds.plan import JointPlan
from nspca.certificate import Certificate
from nspca.covariance.covariance import DIRECT_LIMIT
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs
from nspca.errors import Cancelled, NotConverged, Refused
from nspca.problem import Problem
from nspca.progress import silent

LOOK = 10
"""Steps between two evaluations of the bound."""
WIDE, PATIENCE = 0.05, 3
"""A run stops after PATIENCE evaluations in a row that each close less than the share `plan.stall` of the
gap. A gap above the share WIDE of the bound counts as that much.
"""
SLACK = 1e-7
"""Maximum increase of a spectral claim over its estimate, relative to the size of the matrix. A claim that
had to be raised by more is useless.
"""


def allowed(plan: JointPlan, kept: int) -> int:
    """Return the maximum number of ADMM steps of a plan on `kept` rows, for all penalties together."""
    return len(plan.rhos) * plan.steps_of(kept) if kept else 0


def kept_rows(problem: Problem, plan: JointPlan, number: int) -> Kept:
    """Return at most `number` kept rows, or all rows if elimination gains nothing and the plan allows all."""
    kept = elimination.keep(problem, number)
    futile = kept.rows is not None and 2 * kept.floor > problem.covariance.diagonal.max()
    return elimination.all_rows(problem) if futile and problem.n <= plan.whole else kept


@dataclass(eq=False, kw_only=True)
class KyFan(Work[JointPlan]):
    """A search for the best W on some kept rows.

    Attributes
    ----------
    best : (r, r) or None
        The W with the smallest bound `upper` so far (an unproved estimate); None for W = 0.
    X : (r, r) or None
        The ADMM iterate X at which `best` was found, if any.
    before : Certificate or None
        Best certificate of earlier runs on fewer rows.
    last : bool
        Whether this is the last run, since no run on more rows follows.
    rho : float
        ADMM penalty at which `best` was found.
    end : int
        Value of `steps` at the end of this run.
    after : int
        Number of the `total` steps that are reserved for later stages.
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
        """Best bound so far, including earlier runs, in the units of the data."""
        own, before = super().shown, self.before
        if own is None or before is None:
            return own if before is None else before.upper
        return min(own, before.upper)

    @property
    def ends(self) -> bool:
        """Tell whether no run on more rows follows, for example since more rows would not help."""
        if self.last or self.closed or self.kept.rows is None or self.best is None:
            return True
        return threshold(self.best, self.problem.nonneg, self.kept.floor) > self.kept.floor

    def run(self) -> Certificate:
        """Try all choices of W, and return the certificate of the best."""
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
        """Try W = 0 and return the r leading eigenpairs of A; None if A is too large for them."""
        A, r = self.problem.covariance, len(self.problem.sizes)
        try:
            if min(A.n, A.shape[0]) > self.plan.factorised:
                return None  # a factorisation of this size is impossible or takes too long
            pairs = A.leading(r) if A.n <= DIRECT_LIMIT or 4 * r < A.n else largest_eigenpairs(A.matrix, r)
        except (NotConverged, Refused):  # the other choices of W need fewer rows
            return None
        self.upper = float(np.maximum(pairs[0], 0.0).sum())
        return pairs

    def search_threshold(self) -> None:
        """Try W = min(A, tau), with tau from two passes of a grid."""
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
        """Try the W of ADMM with penalty rho, until the bound hardly falls."""
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
        """Return the estimated bound of W, and keep W if its bound is the best."""
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
        """Return the certificate of the best W, or of a threshold if Ky Fan's bound cannot be proved.

        `pairs` are the leading eigenpairs of A from `ky_fan`.
        """
        if self.best is None and pairs is not None:
            upper, witness = claimed(self.problem, pairs)
            if np.isfinite(upper):
                return self.finished(upper, witness)
            self.upper = np.inf
            self.search_threshold()
        W, rows, sizes = self.best, self.kept.rows, self.problem.sizes
        assert W is not None  # search_threshold always keeps its first W
        tau = threshold(W, self.problem.nonneg, self.kept.floor)
        kept = at_threshold(self.problem, self.kept, tau) or self.kept
        pairs = largest_eigenpairs(kept.block - W, len(sizes))
        upper, witness = claimed(self.problem, pairs, W, rows, kept=kept)
        upper += sum(sizes) * tau * (1 + 4 * UNIT_ROUNDOFF)
        if not np.isfinite(upper):
            failed = "the eigenvalues of the joint bound could not be proved"
            raise Refused(f"{failed}; the matrix is badly scaled, rescale the data")
        witness |= {"W": W} if rows is None else {"W": W, "rows": rows, "tau": np.array([tau])}
        witness |= {} if self.kept.weights is None else {"y": self.kept.weights}
        return self.finished(upper, witness)

    def finished(self, upper: float, witness: dict[str, Array]) -> Certificate:
        """Return the certificate of a proved bound (unit scale), and report the end of the run."""
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
    """Prove ``A - N - LL' <= t I + UU'``, and return ``r t + |U|^2`` with the witness (U and claims).

    The bound is inf if t had to be raised too much above its estimate.

    Parameters
    ----------
    pairs : (values, vectors)
        Leading eigenpairs of ``A - N - LL'``; the first r - 1 form U.
    N : (p, p), optional
        Symmetric matrix W + sym(M); zero by default.
    rows : (p,) int, optional
        Kept rows; all by default.
    L : (p, d), optional
        The lift; zero by default.
    kept : Kept, optional
        Kept rows with weights for the other features. Its K is subtracted from N, and t is at least its
        `outside`.
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
        t = spectral_claim(A, U if L is None else np.hstack((U, L)), low, rows, N) if size > 0 else low
    except (NotConverged, Refused):
        return np.inf, {}
    if t - low > SLACK * size:
        return np.inf, {}
    upper = (r * t + float(np.sum(U * U))) * (1 + (U.size + r) * 4 * UNIT_ROUNDOFF)
    return upper, {"U": U, "claims": np.array([t, 0.0])}
