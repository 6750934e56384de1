"""Find disjoint components together, by monotone ascent from many starts.

    maximise  tr X'AX   over X = (x_1 .. x_r) with disjoint supports of at most s_j entries, |x_j| = 1 (and
    x_j >= 0)

Idea: with directions fixed the best supports are a matching (`nspca.local_search.matching`). With supports
fixed the best vectors are leading eigenvectors (nonnegative: power steps); alternating can only gain. Many
random starts, and one found one component at a time, climb on factors of small rank, which is quick and
smooth. The best go on with the full A, then exchange features, between components and with unused ones
(`nspca.local_search.exchange`). At last the best answer is kicked: one or two components get a new direction,
and an answer that climbs higher replaces it.
Guarantee: never below any of its starts; the joint certificate says how good it is. One k is one component.
Cost: O(n r d) and a matching per step.
Reference: problem (2) of Asteris et al. 2015; the method is nspca's own.
"""

# Called by `nspca.solving`, through `METHODS`, also for "auto" with several sizes.

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nspca.covariance import sketch
from nspca.covariance.linalg import Array
from nspca.local_search import disjoint
from nspca.local_search.exchange import exchange, in_sight
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status, handing_in
from nspca.validation.options import MethodOptions

FINALISTS = 3
"""Number of starts improved on the full A: the best at small rank is often not the best there."""


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `joint`.

    Attributes
    ----------
    rank : int
        Rank of the factor the starts climb on; a half and a quarter of it serve as well.
    restarts : int
        Random starts.
    iterations : int
        Kicks of the best answer, by new directions for one or two components.
    polish : bool
        Go on with the full A (ascent, exchanges, kicks); without it the answer is the best one for the
        factor.
    """

    rank: int = 20
    restarts: int = 20
    iterations: int = field(default=3, metadata={"least": 0})
    polish: bool = True


def solve(
    problem: Problem, options: Options, seed: int = 0, report: Report = silent, warm: Sequence[Array] = ()
) -> Result:
    """Return the best answer of all starts.

    `warm` holds known answers, arrays (n, r), which are improved as well. So the answer is at least as good.
    """
    A, sizes, nonneg = problem.covariance, problem.sizes, problem.nonneg
    rng = np.random.default_rng(seed)
    report(Event("starts", 0, options.restarts + 1))
    V = sketch.quick(A, min(options.rank, problem.n))
    found = starts(V, sizes, nonneg, options.restarts, rng, report)
    climbed = found[0][1]
    X = found[0][0]
    if options.polish:
        chosen = [X for X, _ in distinct(found)[:FINALISTS]]
        climbs = [disjoint.climb(A, Y, sizes, nonneg)[0] for Y in [*warm, *chosen]]
        with handing_in(
            Result.of(problem, max(climbs, key=lambda Y: disjoint.value(A, Y)), Status.HEURISTIC, "joint")
        ):
            exchanged = (exchange(A, Y, sizes, nonneg, report) for Y in climbs)
            X = max(exchanged, key=lambda Y: disjoint.value(A, Y))
        with handing_in(Result.of(problem, X, Status.HEURISTIC, "joint")):
            X = kicked(problem, X, V, options.iterations, rng, report)
    elif warm:
        X = max([X, *warm], key=lambda Y: disjoint.value(A, Y))
    info = {"rank": V.shape[1], "starts": len(found), "factor_value": climbed * A.unit}
    return Result.of(problem, X, Status.HEURISTIC, "joint", **info)


def starts(
    V: Array,
    sizes: Sequence[int],
    nonneg: bool,
    count: int,
    rng: np.random.Generator,
    report: Report = silent,
) -> list[tuple[Array, float]]:
    """Return local optima (X, value on VV'), best first.

    One starts from components found one at a time, the others from `count` random directions.
    """
    d, r = V.shape[1], len(sizes)
    ranks = [d, max(1, d // 2), max(1, d // 4)]
    found = [disjoint.climb_factor(V, one_by_one(V, sizes, nonneg, rng), sizes, nonneg)]
    for start in range(count):
        report(Event("starts", start + 1, count + 1))  # no `lower`: these values are on VV', not on A
        C = np.zeros((d, r))
        part = ranks[start % 3]
        C[:part] = rng.standard_normal((part, r))
        if nonneg and start % 2:  # only every other: opposite signs of one direction may be best together
            C = C * disjoint.better_signs(V @ C, sizes)
        found.append(disjoint.climb_factor(V, C, sizes, nonneg))
    return sorted(found, key=lambda one: -one[1])


def one_by_one(
    V: Array, sizes: Sequence[int], nonneg: bool, rng: np.random.Generator, tries: int = 4
) -> Array:
    """Return directions (d, r) of components found one after another on VV' with disjoint features.

    Each component is the best of climbs from `tries` leading eigenvectors and `tries` random directions.
    """
    left, C = np.ones(len(V), dtype=bool), np.zeros((V.shape[1], len(sizes)))
    for j, size in enumerate(sizes):
        rows = np.flatnonzero(left)
        leading = np.linalg.eigh(V[rows].T @ V[rows])[1][:, ::-1]
        directions = [*leading.T[:tries], *(-leading.T[:tries]), *rng.standard_normal((tries, V.shape[1]))]
        directions = directions if nonneg else directions[:tries] + directions[2 * tries :]
        x = max(
            (disjoint.climb_factor(V[rows], c[:, None], (size,), nonneg) for c in directions),
            key=lambda one: one[1],
        )[0][:, 0]
        left[rows[x != 0]] = False
        C[:, j] = V[rows].T @ x
    return C


def distinct(found: Sequence[tuple[Array, float]]) -> list[tuple[Array, float]]:
    """Return the sorted answers without those whose value is equal to that of the one before."""
    kept: list[tuple[Array, float]] = []
    for X, value in found:
        if not kept or value < kept[-1][1] * (1 - 1e-9):
            kept.append((X, value))
    return kept


def kicked(
    problem: Problem, X: Array, V: Array, count: int, rng: np.random.Generator, report: Report
) -> Array:
    """Return X (n, r), or a better answer that `count` kicks found.

    A kick gives one or two components a random new direction, then climbs and exchanges features on a part of
    the features. Only an answer better than all before is kept. V (n, d) is a factor of A, from which
    directions are made.
    """
    A, sizes, nonneg = problem.covariance, problem.sizes, problem.nonneg
    rows = in_sight(A, X, nonneg, sum(sizes))  # a matching fills all sum(sizes) places
    part, inner, reached = A.restrict(rows), X[rows], disjoint.value(A, X)
    begun = reached
    for kick in range(count):
        whole = np.zeros_like(X)
        whole[rows] = inner
        report(Event("kicks", kick, count, lower=reached * A.unit, payload=disjoint.event_payload(whole)))
        G = part.product(inner)
        G /= np.sqrt(np.maximum(np.einsum("ij,ij->j", inner, G), 1e-300))
        chosen = rng.choice(len(sizes), size=min(len(sizes), 1 + kick % 2), replace=False)
        G[:, chosen] = V[rows] @ rng.standard_normal((V.shape[1], chosen.size))
        if nonneg and kick % 4 < 2:
            G = G * disjoint.better_signs(G, sizes)
        Y = disjoint.candidate(G, sizes, nonneg)
        Y = exchange(part, disjoint.climb(part, Y, sizes, nonneg)[0], sizes, nonneg)
        value = disjoint.value(part, Y)
        if value > reached * (1 + 1e-10):
            inner, reached = Y, value
    if reached <= begun:
        return X
    Y = np.zeros_like(X)
    Y[rows] = inner
    return exchange(A, Y, sizes, nonneg, report)
