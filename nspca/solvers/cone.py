"""Find the exact rank-d answer by a search over cones.

    maximise x'A_d x over k-sparse (nonnegative) unit x,   A_d = VV' the best rank-d approximation

Idea: ``x'A_d x = max_c ((Vc)'x)^2``, so the optimum is the largest of the rank-1 optima over unit c, and a
search over cones of directions c finds it (`nspca.lowrank.cones`).
Guarantee: exact for A_d within `tol`; exact for A itself when A has rank d, or is a multiple of the identity
plus rank d. Signed problems use |v_i'c| and half of the sphere. That is the method `spanspca`, named after
Papailiopoulos et al. 2013, who enumerate supports.
Cost: O(nd) per cone; practical to rank 5 or 6.
Reference: Asteris et al. 2014, eq. 10-13 (the problem), Theorem 1 (what it means for A).
"""

# Called by `nspca.solving`, through `METHODS`.

from dataclasses import dataclass, field

from nspca.covariance.linalg import Array
from nspca.local_search import single as ascent
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget
from nspca.lowrank.objective import Query
from nspca.lowrank.rankd import factor, rho
from nspca.problem import Problem
from nspca.progress import Report, progress_only, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `cone`.

    Attributes
    ----------
    rank : int
        d, the rank of the approximation, 1 to 8.
    tol : float
        Relative gap at which the search stops.
    cones : int
        Maximum number of cones. At the cap the answer is the best so far, and the status says LIMIT.
    polish : bool
        Improve the answer on the full A afterwards (never lowers its value there).
    """

    rank: int = field(default=3, metadata={"most": 8})
    tol: float = 1e-3
    cones: int = 50000
    polish: bool = True


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the best k-sparse component of A_d, improved on A if `polish`."""
    A, rank = problem.covariance, min(options.rank, problem.n)
    V, exact = factor(A, rank)
    query = Query(V[problem.usable], problem.size, nonneg=problem.nonneg, fixed=len(problem.forced))
    budget = Budget(options.tol, cap=options.cones)
    cover = cones.search(query, budget, report=progress_only(report, problem.size))
    x = component(problem, V, cover.direction)
    if options.polish:
        x = ascent.polish(problem, x)
    status = Status.LIMIT if not cover.finished else Status.WITHIN_TOLERANCE if exact else Status.HEURISTIC
    unit = A.unit
    info = {
        "rank": rank,
        "cones": cover.cones,
        "rank_d_value": cover.lower * unit,
        "rank_d_upper": cover.upper * unit,
    }
    return Result.of(problem, x, status, "cone", **info, rho=rho(problem, rank), exact_for_A=exact)


def component(problem: Problem, V: Array, c: Array) -> Array:
    """Return the rank-1 answer at direction c or -c, whichever is better on the full A."""
    return ascent.best_of(problem, ascent.starts_from(problem, V @ c))
