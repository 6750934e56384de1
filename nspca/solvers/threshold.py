"""The k largest entries of the leading eigenvector, with the best weights on them: the yardstick every method
is held against.

    maximise x'Ax over k-sparse (nonnegative) unit x

Idea: truncate the leading eigenvector (nonnegative: the positive part of either sign, whichever is better),
then take the best vector on the support it leaves ("variational renormalisation", Moghaddam et al. 2006).
Guarantee: none; the entries that are large together with all others need not be large together.
Cost: one eigenvector, shared by every k.
Reference: Cadima & Jolliffe 1995, who show how it misleads; renormalised as in Fig. 2 of Sigg & Buhmann 2008.
"""

from dataclasses import dataclass

from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status


@dataclass(frozen=True)
class Options:
    """Options of `threshold`.

    Attributes
    ----------
    polish : bool
        Improve the answer on the full A afterwards. Off unless asked for: improved, it is a yardstick no
        more, but the truncated power method from its first start.
    """

    polish: bool = False


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Truncation of the leading eigenvector for one k."""
    return path(problem, [problem.size], options, seed, report)[problem.size]


def path(problem: Problem, ks, options: Options, seed: int = 0, report: Report = silent) -> dict[int, Result]:
    """Truncations of one eigenvector, for every k of `ks`."""
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
