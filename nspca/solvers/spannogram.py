"""Exact rank-d answer by enumerating where the curves of the spannogram cross: Algorithms 1 and 2 of the 2014
paper.

    maximise x'A_d x over k-sparse (nonnegative) unit x,   A_d = VV' the best rank-d approximation

Idea: the optimal support is the set of the k largest positive entries of Vc for some c. That set can change
only where two of the n + 1 curves (rows of V and zero) meet, and every cell of equal sets has a corner where
d of them meet. On each candidate support the d-dimensional problem (P_d) is solved.
Guarantee: exact for A_d; exact for A when A has rank d, or is a multiple of the identity plus rank d.
Cost: O(n^(d+1) + n^d k^d).
Reference: Asteris et al. 2014, Alg. 1 and 2, Section 5, Theorem 1. The mathematics is in
`nspca.lowrank.spannogram`.
"""

# Called by `nspca.solving`, through `METHODS`.

from dataclasses import dataclass
from math import comb

from nspca.local_search import single as ascent
from nspca.lowrank.rankd import factor, rho
from nspca.lowrank.spannogram import MAX_INTERSECTIONS, enumerable, exact_rank_d, most_candidates
from nspca.problem import Problem
from nspca.progress import Report, progress_only, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `spannogram`.

    Attributes
    ----------
    rank : int
        d, the rank of the approximation.
    polish : bool
        Improve the answer on the full A afterwards (never lowers its value there).
    """

    rank: int = 2
    polish: bool = True


def require(problem: Problem, options: Options) -> None:
    """Refuse a problem with more intersections of curves than can be enumerated.

    The factor is computed only when the number of features does not decide.
    """
    rows = problem.n if problem.nonneg else 2 * problem.n
    rank = min(options.rank, problem.n)
    if comb(rows + 1, min(rank, (rows + 1) // 2)) > MAX_INTERSECTIONS:
        enumerable(factor(problem.covariance, rank)[0], problem.nonneg)


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the exact optimum of A_d, improved by an ascent on A if `polish`."""
    rank = min(options.rank, problem.n)
    V, exact = factor(problem.covariance, rank)
    answer = exact_rank_d(V, problem.size, problem.nonneg, progress_only(report, problem.size))
    x = ascent.polish(problem, answer.x) if options.polish else answer.x
    # Enumeration is exact up to rounding. Whether the answer is optimal is left to the certificate to say.
    status = Status.WITHIN_TOLERANCE if exact else Status.HEURISTIC
    most = most_candidates(problem.n, rank, problem.size, problem.nonneg)
    info = {"rank": rank, "candidates": answer.candidates, "most_candidates": float(most)}
    info |= {
        "rank_d_value": answer.value * problem.covariance.unit,
        "rho": rho(problem, rank),
        "exact_for_A": exact,
    }
    return Result.of(problem, x, status, "spannogram", **info)
