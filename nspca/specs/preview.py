"""Preview of a sweep: a quick answer with a proved bound for some k, shown before a sweep has results.

A `SweepSpec` with `draft` runs it; the page Sweep asks that before a visitor asks for the sweep.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from nspca.api import sweep
from nspca.bounds import elementary, lowrank
from nspca.certificate import Certificate
from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status, Sweep, row_of
from nspca.specs.published import EPSNET, PAPER, PROBABILITY, RANK_3, paper_bounds
from nspca.specs.rows import Found, pack

METHOD = "preview"
"""Name of the method in the rows and results of a preview."""
SMALL = 100
"""Largest number of features for which a preview is a sweep with fast proofs, of two seconds or less."""
FACTORED = 1000
"""Largest min(m, n) for which eigenvalue bounds are proved, since a factorisation then takes some 0.01 s."""
ROWS = 500
"""Largest number of features for which the bound by row sums is tried."""
BLOCK = 200
"""Largest k for which the weights of an answer are refitted on its support."""
MANY, FEW = 20_000, 6
"""With more than `MANY` features, only `FEW` of the requested values of k are computed."""


def preview(problem: Problem, ks: tuple[int, ...], seed: int = 0, report: Report = silent) -> Sweep:
    """Return a `nspca.Sweep` with an answer and the smallest quick bound for each k.

    With at most `SMALL` features it is a sweep with fast proofs. Otherwise each answer is the better of the
    truncated leading eigenvector and the rank-3 answer. With more than `MANY` features it has `FEW` of the
    values of k.
    """
    ks = _fewer(ks, problem.n)
    paper, probability = paper_bounds(problem, ks, seed, report)
    beside: dict[int, dict[str, Any]] = {
        k: {RANK_3: None, EPSNET: paper[k], PROBABILITY: probability} for k in ks
    }

    def renamed(event: Event) -> None:
        """Report an event of a sweep; its row, if any, gets the method and the bounds of a preview."""
        row = event.payload.get("row")
        if row is not None:
            event = replace(event, payload=pack(Found(**row | {"method": METHOD}, **beside[row["k"]])))
        report(event)

    if problem.n <= SMALL:
        swept = sweep(problem, ks, certify="fast", seed=seed, report=renamed)
        return Sweep(
            {(METHOD, k): replace(swept[name, k], method=METHOD, info=beside[k]) for name, k in swept}
        )
    results = {}
    for k in ks:
        results[METHOD, k] = result = quick(problem.with_k(k), beside[k])
        row = row_of(METHOD, k, result)
        of_k = {"lower": row["value"], "upper": row["upper"], "k": k, "payload": {"row": row}}
        renamed(Event("preview", len(results), len(ks), **of_k))
    return Sweep(results)


def quick(problem: Problem, info: dict[str, Any]) -> Result:
    """Return a component that is made from the leading eigenvectors, with a certificate.

    The certificate is the smallest of the bounds that a problem of this size affords. `info` is added to the
    result.
    """
    A = problem.covariance
    directions, proved = [A.leading(PAPER.rank)[1][:, 0]], [elementary.diagonal(problem)]
    if problem.n <= ROWS:
        proved.append(elementary.rows(problem))
    if min(problem.n, A.shape[0]) <= FACTORED:
        certificate, cover = lowrank.bound(problem, PAPER.rank)
        proved += [elementary.eigenvalue(problem), certificate]
        direction = np.zeros(problem.n)
        direction[problem.usable] = certificate.witness["U"] @ cover.direction
        directions.append(direction)
    starts = np.hstack([ascent.starts_from(problem, direction) for direction in directions])
    if problem.size <= BLOCK:
        starts = ascent.on_supports(problem, starts)
    x = ascent.best_of(problem, starts)
    best: Certificate = min(proved, key=lambda certificate: certificate.upper)
    return Result.of(problem, x, Status.HEURISTIC, METHOD, **info).with_certificate(best)


def _fewer(ks: tuple[int, ...], n: int) -> tuple[int, ...]:
    """Return all values of k or, with very many features, some of them with the first and the last."""
    if n <= MANY or len(ks) <= FEW:
        return ks
    return tuple(ks[round(i * (len(ks) - 1) / (FEW - 1))] for i in range(FEW))
