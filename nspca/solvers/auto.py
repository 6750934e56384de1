"""The default policy for one component: several starts, polished on the full A, then swaps until none gains.

Starts: the cone search at a small rank (of the shifted matrix, whose cover is a certificate as well), the
largest entries of the leading eigenvectors, random directions of the leading eigenspace, and the largest
entries of single columns of A, which show a small group of nearly equal features. For several sizes the
default is `joint`.
Guarantee: never below any of its starts; the certificate says how good the answer is.
"""

# Called by `nspca.solving`, through `LINE`, when the method is "auto".

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nspca.covariance.linalg import Array
from nspca.local_search import single as ascent
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget
from nspca.lowrank.objective import Query
from nspca.lowrank.rankd import factor
from nspca.problem import Problem
from nspca.progress import Event, Report, progress_only, silent
from nspca.result import Result, Status, handing_in
from nspca.solvers import Method
from nspca.validation.options import MethodOptions

NEIGHBOURHOODS, ENTRIES = 200, 100_000
"""Maximum number of columns of A that are tried as starts, and maximum number of their entries together."""


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `auto`.

    Attributes
    ----------
    rank : int
        Rank of the cone search that gives the first start.
    tol : float
        Tolerance of the cone search.
    restarts : int
        Random starts of the power step.
    polish : bool
        Improve the best start by swaps; off for a quick look.
    """

    rank: int = field(default=3, metadata={"most": 8})
    tol: float = 1e-3
    restarts: int = field(default=20, metadata={"least": 0})
    polish: bool = True


def solve(
    problem: Problem, options: Options, seed: int = 0, report: Report = silent, warm: Sequence[Array] = ()
) -> Result:
    """Return the best component of all starts; `warm` are components of similar problems, as vectors (n,)."""
    A, rank = problem.covariance, min(options.rank, problem.n)
    report(Event("cones", k=problem.size))
    V, exact = factor(A, rank)
    query = Query(V[problem.usable], problem.size, nonneg=problem.nonneg, fixed=len(problem.forced))
    cover = cones.search(query, Budget(options.tol), report=progress_only(report, problem.size))
    starts = [ascent.starts_from(problem, V @ cover.direction)]
    starts += [ascent.starts_from(problem, u) for u in A.leading(rank)[1].T]
    starts += [ascent.starts_from(problem, a) for a in warm]
    starts += [neighbourhoods(problem), random_starts(problem, options.restarts, seed)]
    report(Event("power steps", k=problem.size))
    X = ascent.power(problem, np.column_stack(starts))
    values = np.array([A.quadratic(x) for x in X.T])
    x = ascent.polish(problem, X[:, int(np.argmax(values))])
    if options.polish:
        with handing_in(Result.of(problem, x, Status.HEURISTIC, "auto")):
            x = ascent.swaps(problem, x, report)
    status = Status.WITHIN_TOLERANCE if exact and cover.finished else Status.HEURISTIC
    return Result.of(problem, x, status, "auto", rank=rank, starts=X.shape[1], exact_for_A=exact)


def neighbourhoods(problem: Problem) -> Array:
    """Return a start from each column of A with a large variance, as many as cost little; (n, count)."""
    A = problem.covariance
    largest = np.argsort(-A.diagonal, kind="stable")[: max(1, min(NEIGHBOURHOODS, ENTRIES // A.n))]
    return np.column_stack([ascent.starts_from(problem, a)[:, :1] for a in A.columns(largest).T])


def random_starts(problem: Problem, count: int, seed: int) -> Array:
    """Return `count` feasible starts (n, count) from random directions of the leading eigenspace."""
    A = problem.covariance
    if count == 0:
        return np.zeros((problem.n, 0))
    rng = np.random.default_rng(seed)
    d = min(10, problem.n)
    values, vectors = A.leading(d)
    directions = (vectors * np.sqrt(values)) @ rng.standard_normal((d, count))
    return np.column_stack([ascent.starts_from(problem, a)[:, :1] for a in directions.T])


LINE = Method(
    "auto",
    "several starts, the exact low-rank answer among them, then swaps; of several sizes, joint",
    "nspca.solvers.auto",
    cost=0.5,
    Options=Options,
    solve=solve,
    joint=True,
    forced=True,
)
"""Entry of the policy, in the form of `METHODS`. Problems with several sizes are solved by `joint`."""
