"""Find sparse components by forward selection, with answers for all k on the way, then swaps.

    maximise x'Ax over k-sparse (nonnegative) unit x

Idea: start from one feature; each step adds the feature that helps most and takes the best vector on the new
support. A feature i is judged by the best vector in the span of the present x and e_i. Its value is a 2 x 2
eigenvalue that needs (Ax)_i and a_ii only. This value is reached, and at least the bound ``l + (Ax)_i^2 / l``
by which PathSPCA ranks features, l = x'Ax: that is ``|[Z_I, z_i]'y|^2`` with the columns z_i of Z and
y = Zx / |Zx|, and the step from y back to the features stays in the span. The `tried` most promising are
solved on their support; with all of them tried this is the forward search of GSPCA.
Guarantee: no bound.
Cost: O(n k + k^3) per step and O(mn) or O(n^2) for Ax. One pass gives all k up to K.
Reference: d'Aspremont, Bach & El Ghaoui 2008, Section 3 (approximate greedy search); Moghaddam, Weiss &
Avidan 2006 (GSPCA, forward). The nonnegative form uses positive parts of Ax and nonnegative vectors on the
support.
"""

# Called by `nspca.solving`, through `METHODS`: `solve` for one k, `path` for a sweep.

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import Array, rank1
from nspca.local_search import single as ascent
from nspca.local_search.removal import in_span
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `greedy`.

    Attributes
    ----------
    restarts : int
        Number of first features, each with its own path; every k takes the best path. One is the feature of
        largest variance, as in the papers, the others the largest entries of the leading eigenvectors. With
        forced features there is one path, which begins with them.
    tried : int
        Number of features solved on their support at each step: 1 as in PathSPCA, n or more as in GSPCA.
    polish : bool
        Improve the answer of the path by swaps of one feature.
    """

    restarts: int = 5
    tried: int = 1
    polish: bool = True


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the answer of the path at the k of the problem, improved by swaps if `polish`."""
    return path(problem, [problem.size], options, seed, report)[problem.size]


def path(
    problem: Problem, ks: Iterable[int], options: Options, seed: int = 0, report: Report = silent
) -> dict[int, Result]:
    """Return an answer for every k of `ks`: the best of the forward paths at that k (see `Options.restarts`),
    improved by swaps of its own if `polish`.
    """
    ks = sorted(set(ks))
    alone = [[i] for i in first_features(problem, options.restarts)]
    firsts = [list(problem.forced)] if problem.forced else alone
    results = {}
    for found in zip(*(forward(problem, i, max(ks), options.tried, report) for i in firsts), strict=True):
        k = found[0][0]
        if k in ks:
            one = problem.with_k(k)
            x = ascent.best_of(one, np.column_stack([x for _, x in found]))
            before = one.value(x)
            x = ascent.swaps(one, ascent.polish(one, x), report) if options.polish else x
            results[k] = Result.of(one, x, Status.HEURISTIC, "greedy", path_value=before, paths=len(firsts))
    return results


def first_features(problem: Problem, count: int) -> list[int]:
    """Return up to `count` different first features; see `Options.restarts`."""
    A = problem.covariance
    vectors = A.leading(min((count + 1) // 2, problem.n))[1] if count > 1 else np.zeros((problem.n, 0))
    firsts = [int(np.argmax(A.diagonal))] + [int(np.argmax(u)) for v in vectors.T for u in (v, -v)]
    return list(dict.fromkeys(firsts))[:count]


def forward(
    problem: Problem, first: list[int], largest: int, tried: int, report: Report = silent
) -> Iterator[tuple[int, Array]]:
    """Yield (k, x (n,)) for k from the number of `first` features to `largest`.

    Once no feature helps, x stays the same.
    """
    A, nonneg = problem.covariance, problem.nonneg
    chosen, x, block = np.array(first), np.zeros(problem.n), A.block(np.array(first))
    x[chosen] = ascent.best_on_support(block, rank1(block.diagonal().copy(), 1), nonneg)
    value = float(x[chosen] @ block @ x[chosen])
    yield chosen.size, x
    for k in range(chosen.size + 1, largest + 1):
        report(Event("forward", k - 1, largest, lower=value * A.unit, k=k))
        image = A.product(x)
        promise = in_span(value, image, A.diagonal, nonneg)
        promise[chosen] = -np.inf
        candidates = [
            i for i in np.argsort(-promise, kind="stable")[:tried] if promise[i] > value * (1 + ascent.GAIN)
        ]
        best = None
        for i, column in zip(candidates, A.columns(candidates).T, strict=True):
            part = np.block([[block, column[chosen, None]], [column[chosen], A.diagonal[i]]])
            weights = ascent.best_with(part, np.append(x[chosen], 0.0), chosen.size, nonneg)
            reached = float(weights @ part @ weights)
            if best is None or reached > best[0]:
                best = reached, i, weights, part
        if best is not None:
            value, i, weights, block = best
            chosen = np.append(chosen, i)
            x = np.zeros(problem.n)
            x[chosen] = weights
        yield k, x
