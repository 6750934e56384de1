"""What one cheap pass knows of a sweep, before anybody asks for one: answers and proved bounds for every k in
well under a second.
"""

from typing import Any

import numpy as np

import nspca
from nspca.ascent import single as ascent
from nspca.bounds import elementary, lowrank
from nspca.certificate import Certificate
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status, row_of
from nspca.tasks.rows import Found, pack
from nspca.tasks.sweep import EPSNET, PAPER, PROBABILITY, RANK_3, how, make_problem, paper_bounds

METHOD = "preview"
FACTORED = 1000
"""Size of the smaller side up to which the eigenvalues are proved, by a factorisation of some hundredths of a
second.
"""
ROWS = 500
"""Features up to which the sums over rows are tried."""
BLOCK = 200
"""Largest k whose answer is improved on its support."""
MANY, FEW = 20_000, 6
"""Features above which there are few values of k, and how many."""


def run_preview(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """A `Sweep` of the truncated leading eigenvector and the rank-3 answer, the better of both, with the
    smallest of the quick bounds.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, or the (n, n) covariance
    request : dict
        ``ks, nonneg, center, scale, seed``, and ``forced`` where features are.
    """
    ks = _fewer(request["ks"], X.shape[1])
    problem = make_problem(X, covariance, ks[0], **how(request))
    paper, probability = paper_bounds(problem, ks, request["seed"], report)
    results = {}
    for k in ks:
        one = problem.with_k(k)
        beside: dict[str, Any] = {RANK_3: None, EPSNET: paper[k], PROBABILITY: probability}
        results[METHOD, k] = result = quick(one, beside)
        row = row_of(METHOD, k, result)
        report(
            Event(
                "preview",
                len(results),
                len(ks),
                lower=row["value"],
                upper=row["upper"],
                k=k,
                payload=pack(Found(**row, **beside)),
            )
        )
    return nspca.Sweep(results).to_bytes()


def quick(problem: nspca.Problem, info: dict) -> Result:
    """A component and a bound on all of them, both from the leading eigenvectors."""
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
    starts = [start for direction in directions for start in ascent.starts_from(problem, direction).T]
    x = ascent.best_of(problem, _improved(problem, starts))
    best: Certificate = min(proved, key=lambda certificate: certificate.upper)
    return Result.of(problem, x, Status.HEURISTIC, METHOD, **info).with_certificate(best)


def _improved(problem, starts):
    columns = np.column_stack(starts)
    return ascent.on_supports(problem, columns) if problem.k <= BLOCK else columns


def _fewer(ks, n):
    """All of them, or of very many features some, the first and the last among them."""
    if n <= MANY or len(ks) <= FEW:
        return ks
    return [ks[round(i * (len(ks) - 1) / (FEW - 1))] for i in range(FEW)]
