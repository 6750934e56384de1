"""Truncate the leading eigenvector to k entries and refit their weights: the simplest method.

    maximise x'Ax over k-sparse (nonnegative) unit x

Idea: truncate the leading eigenvector (nonnegative: the positive part of either sign, whichever is better),
then take the best vector on the support it leaves ("variational renormalisation", Moghaddam et al. 2006).
Guarantee: none. Entries that are large in the eigenvector need not make a good component on their own.
Cost: one eigenvector, shared by every k.
Reference: Cadima & Jolliffe 1995, who show how it misleads; renormalised as in Fig. 2 of Sigg & Buhmann 2008.
"""

# Called by `nspca.solving`, through `METHODS`: `solve` for one k, `path` for a sweep.

from collections.abc import Sequence
from dataclasses import dataclass

from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `threshold`.

    Attributes
    ----------
    polish : bool
        Improve the answer on the full A afterwards. The result is then that of `tpower` from this start.
    """

    polish: bool = False


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the truncated leading eigenvector for the k of the problem."""
    return path(problem, [problem.size], options, seed, report)[problem.size]


def path(
    problem: Problem, ks: Sequence[int], options: Options, seed: int = 0, report: Report = silent
) -> dict[int, Result]:
    """Return the truncated leading eigenvector for every k of `ks`, by k; one eigenvector serves all."""
    report(Event("leading eigenvector", 0, len(ks)))
    u = problem.covariance.leading(1)[1][:, 0]
    results = {}
    for k in ks:
        one = problem.with_k(k)
        starts = ascent.starts_from(one, u)
        x = ascent.best_of(one, ascent.on_supports(one, starts))
        x = ascent.polish(one, x) if options.polish else x
        results[k] = Result.of(one, x, Status.HEURISTIC, "threshold")
        report(Event("truncation", len(results), len(ks), lower=results[k].value, k=k))
    return results
