"""Proved limit of the spannogram page: what no set of k features can pass, in all directions of the data.

`page` prints it in the sentence at the top. Here `of` is the problem of the page, and `asked` the sweep that
proves its limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import nspca
from nspca.bounds import lowrank
from nspca.dashboard.app import cache
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import first_answer, lookup
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.spannogram.low_rank import Subject
from nspca.specs import SweepSpec

CAP = 5_000  # cones of the search in two directions, which a bound seldom needs


@dataclass(frozen=True)
class Limit:
    """The smallest proved bound that is known for a problem.

    Parameters
    ----------
    upper : float
        The bound, in the units of the data.
    is_quick : bool
        Whether no sweep has proved a bound yet, so that it is the one of the rank-2 picture.
    run : str or None
        Id of the default run that is about to prove a smaller one.
    """

    upper: float
    is_quick: bool
    run: str | None = None


def find(of: Subject, asked: SweepSpec) -> Limit:
    """Return the smallest bound of the visitor's own sweeps, of the default run, and of the rank-2 picture.

    The visitor's own sweeps come before the default run, so that this page and Sweep print the same limit.
    """
    quick = _quick(of.key, of)
    known, waits = list(_own(of, asked)), None
    if not known:
        run = first_answer.unasked(of.chosen, asked)
        results = None if run is None else run.results
        if results is not None:
            known = list(_uppers(results, asked.first))
        elif run is not None:
            waits = run.id
    return Limit(min([*known, quick]), not known, waits)


@cache.keep()
def _quick(key: tuple[Any, ...], _of: Subject) -> float:
    """Return the bound by the two main directions (B3), computed once for all visitors."""
    certificate, _ = lowrank.bound(_of.problem, 2, cap=CAP)
    return float(certificate.upper)


def _own(of: Subject, asked: SweepSpec) -> Iterator[float]:
    """Yield the bounds that this workspace has for the problem and the k of a question."""
    k = asked.first
    for run, spec in lookup.every(SweepSpec):
        if spec.same_problem == asked.same_problem and k in spec.ks:
            results = Watched(run.id, of.chosen, spec, engine().status(run.id)).results
            if results is not None:
                yield from _uppers(results, k)
    for attempt in proofs.attempts(asked):
        if attempt.k == k and attempt.certificate is not None:
            yield attempt.certificate.upper


def _uppers(results: nspca.Sweep, k: int) -> Iterator[float]:
    """Yield the proved bounds of a sweep at one k."""
    for (_, size), result in results.results.items():
        if size == k and result.certificate is not None:
            yield result.certificate.upper
