"""Bounds by the formulas of the papers, for comparison with certificates.

Sweeps report them in their rows. Users call `nspca.published_bounds`.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from nspca.bounds import lowrank
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.errors import NotConverged
from nspca.problem import Problem
from nspca.progress import Report, silent, telling
from nspca.solvers import epsnet

if TYPE_CHECKING:
    import pandas as pd

RANK_3, EPSNET, PROBABILITY = "upper_rank3", "upper_epsnet", "epsnet_probability"
"""Names of the bounds in the rows of a sweep and in the `info` of its results; see `published_bounds`."""
OTHERS = (RANK_3, EPSNET, PROBABILITY)
"""All three names; pages append these columns to the table of a sweep."""
PAPER = epsnet.Options(rank=3, eps=0.1)
"""Settings of the experiments of Asteris et al. (2014)."""
RANK_3_TOLERANCE = 1e-4
"""Relative accuracy of the rank-3 optimum: far below what a figure shows."""


def rank3_bound(problem: Problem) -> float | None:
    """Return the optimum of the rank-3 part plus the fourth eigenvalue, in the units of the data.

    This proved bound is the exact form of the bound of Asteris et al. (2014). Returns None when the
    eigenvalues are too expensive or not found.
    """
    if not _has_eigenvalues(problem):
        return None
    return lowrank.bound(problem, PAPER.rank, shifted=False, tol=RANK_3_TOLERANCE)[0].upper


def paper_bounds(
    problem: Problem, ks: Iterable[int], seed: int = 0, report: Report = silent
) -> tuple[Mapping[int, float | None], float | None]:
    """Return the bounds of Asteris et al. (2014), and the probability that all of them hold.

    Each bound is the value of the eps-net on the rank-3 part over 1 - eps, plus the fourth eigenvalue. Forced
    features are ignored, so the bounds hold for them too.

    Returns
    -------
    upper : dict
        Bounds by k, in the units of the data; None when the eigenvalues are too expensive or not found.
    probability : float or None
        Lower bound on the probability that all bounds hold. The bounds are not certificates.
    """
    with telling(report):
        if not _has_eigenvalues(problem):
            return dict.fromkeys(ks), None
        return epsnet.upper_bounds(replace(problem, forced=()), ks, PAPER, seed, report)


def published_bounds(problem: Problem, ks: Iterable[int], seed: int = 0) -> "pd.DataFrame":
    """Return the bounds by the formulas of the papers for each k, for comparison with certificates.

    Parameters
    ----------
    problem : Problem
    ks : iterable of int
    seed : int

    Returns
    -------
    DataFrame
        One row for each k. ``upper_rank3`` is the optimum of the rank-3 part plus the fourth eigenvalue,
        proved. ``upper_epsnet`` is the bound of Asteris et al. (2014), which holds for all `ks` together with
        at least ``epsnet_probability``.
    """
    import pandas as pd  # slow to import, and needed only here

    ks = list(ks)
    paper, probability = paper_bounds(problem, ks, seed)
    rows = [
        {"k": k, RANK_3: rank3_bound(problem.with_k(k)), EPSNET: paper[k], PROBABILITY: probability}
        for k in ks
    ]
    return pd.DataFrame(rows)


def _has_eigenvalues(problem: Problem) -> bool:
    """Tell whether the leading eigenvalues can be had: neither too expensive nor too close to each other."""
    A = problem.covariance

    def are_found() -> bool:
        """Tell whether the eigensolver converges; where it does not, each attempt takes many passes."""
        with suppress(NotConverged):
            A.leading(min(PAPER.rank + 1, problem.n))
            return True
        return False

    return min(problem.n, A.shape[0]) <= DENSE_LIMIT and A.once("eigenvalues of the papers", are_found)
