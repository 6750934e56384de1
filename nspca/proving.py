"""Find the best certificate of a problem that an effort buys, and give a result its certificate and status.

The smallest of the bounds that are tried becomes the certificate: elementary bounds, the shifted bound where
A can be factorised, and duals unless the gap is closed already. `nspca.bounds.plan` has the rows, steps and
cones that each effort allows. `nspca.bounds.search` has the order of the duals and when they stop.
`nspca.api` calls `best_certificate`, `certified` and `better`.
"""

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from nspca.bounds import elementary, lowrank
from nspca.bounds.answers import bound_others, list_answers
from nspca.bounds.core import few_in_reach
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.plan import CLOSED, FACTOR_LIMIT, PLANS
from nspca.bounds.search import strongest
from nspca.certificate import Certificate, difference, require_about
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array, normalised_columns
from nspca.covariance.parallel import check_client
from nspca.errors import Cancelled, InvalidOption, InvalidProblem, shown
from nspca.local_search import single
from nspca.presentation.numerals import OPTIMAL_GAP
from nspca.problem import Problem
from nspca.progress import Event, Report, telling
from nspca.result import Result, Status
from nspca.solvers import auto
from nspca.validation.options import check_whole, is_number

EXHAUSTIVE = "exhaustive"
"""Effort that searches until the optimum is proved, or until a limit of the caller."""
EFFORTS = (*PLANS, EXHAUSTIVE)
"""Efforts of a certificate: less time than the solve, seconds, minutes, or until the optimum is proved."""
SHIFT_RANK = 3
"""Rank of the shifted bound B3, which takes milliseconds and from which the other bounds start."""
EXACT = 1e-9
"""Relative difference up to which a result has the lengths and values computed here.

Rounding makes a smaller difference, and other data make a larger one.
"""
MARGIN = 5.0
"""Seconds that the proof of a margin gets after a search for the optimum, if that took less."""
FEW_SUPPORTS = 1000
"""Maximum number of supports that are all tried, in a tenth of a second, before a search for a bound."""
TOLERANCE_GAP = 1e-3
"""Relative gap below which an answer is called optimal within tolerance."""
Bound: TypeAlias = tuple[Certificate, Array | None]
"""Best certificate, and a better component found on the way."""


def check_effort(effort: Any) -> None:
    """Refuse a value that is neither None nor one of `EFFORTS`."""
    if effort is not None and not (isinstance(effort, str) and effort in EFFORTS):
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)} or None, got {shown(effort)}")


def check_belongs(problem: Problem, result: Result) -> None:
    """Refuse a result that does not belong to `problem` by its shape, sizes, sign and values.

    Several components must not share a feature.
    """
    X, sizes = result.components, problem.sizes
    if X.shape != (problem.n, len(sizes)):
        raise InvalidProblem(
            f"the result must have {len(sizes)} component(s) of n = {problem.n} entries, got an array of "
            f"shape {X.shape}; certify it with the problem it was found for"
        )
    counts = np.count_nonzero(np.delete(X, list(problem.forced), axis=0), axis=0) + len(problem.forced)
    if np.any(np.sort(counts) > np.sort(sizes)):
        raise InvalidProblem(
            f"the result must have at most k = {problem.k} nonzero weights, got {counts.tolist()}; use its "
            "own k"
        )
    if problem.nonneg and X.min() < 0:
        raise InvalidProblem(
            f"the result must be nonnegative as the problem is, got a weight of {X.min():.3g}; make the "
            "problem signed"
        )
    shared = np.flatnonzero(np.count_nonzero(X, axis=1) > 1)
    if shared.size:
        raise InvalidProblem(
            f"the bound on several components holds for those that share no feature, got {shared.size} "
            f"shared, the first is feature {shared[0] + 1}; certify each component by itself"
        )
    far = np.abs(np.linalg.norm(X, axis=0) - 1).max()
    if not far <= EXACT:
        raise InvalidProblem(
            f"the components of the result must have length 1, got one that is off by {far:.3g}"
        )
    values = np.array([problem.value(x) for x in X.T])
    if not np.abs(values - result.values).max() <= EXACT * max(
        abs(values.max()), problem.total_variance * EXACT
    ):
        raise InvalidProblem(
            f"the result must have the values its components have here, {values.tolist()}, got "
            f"{result.values.tolist()}; it was found for other data, centring or scaling"
        )


@dataclass(frozen=True)
class Search:
    """Options of effort "exhaustive": limits, and the certificate to go on from; None for other efforts."""

    limits: Limits | None = None
    resume: Certificate | None = None

    @classmethod
    def of(
        cls, effort: str | None, seconds: Any, nodes: Any, client: Any, resume: Certificate | None
    ) -> "Search":
        """Return the checked options, which are refused for other efforts."""
        given = {"seconds": seconds, "nodes": nodes, "client": client, "resume": resume}
        named = [name for name, value in given.items() if value is not None]
        if effort != EXHAUSTIVE:
            if named:
                raise InvalidOption(
                    f"{named[0]} is for effort 'exhaustive', got effort {shown(effort)}; leave {named[0]} out"
                )
            return cls()
        if seconds is not None and not (is_number(seconds) and 0 <= seconds < np.inf):
            raise InvalidOption(f"seconds must be a number of at least 0, or None, got {shown(seconds)}")
        if nodes is not None:
            check_whole("nodes", nodes, 1, 10**12)
        check_client(client)
        limits = Limits(None if seconds is None else float(seconds), None if nodes is None else int(nodes))
        return cls(replace(limits, client=client), resume)

    def check(self, problem: Problem, components: int) -> None:
        """Refuse components one after another, and a certificate of another problem to go on from."""
        if self.limits is None:
            return
        if components > 1 and not problem.joint:
            raise InvalidOption(
                "effort 'exhaustive' is for one component or for several found together, got several one "
                "after another; use method 'joint', or a k with a size for each"
            )
        if self.resume is not None:
            require_about(problem, self.resume)


def better(problem: Problem, result: Result, point: Array | None) -> Result:
    """Return the result of "auto" or "joint" with `point`, a better answer found with the bound, if any.

    Results of other methods are returned unchanged.
    """
    return improved(problem, result, point) if result.method in ("auto", "joint") else result


def improved(problem: Problem, result: Result, point: Array | None) -> Result:
    """Return `result`, or the answer `point`, (n,) or (n, r), in its place if that explains more."""
    if point is None or sum(problem.value(x) for x in np.atleast_2d(point.T)) <= result.value:
        return result
    return Result.of(
        problem, point, result.status, result.method, **result.info | {"found_by": "certificate"}
    )


def certified(problem: Problem, result: Result, certificate: Certificate) -> Result:
    """Return `result` with its certificate, and with the status that the proved gap justifies.

    A status of optimality that the result has already is about another certificate, and maybe about another
    problem. So it is not taken over, nor is what was proved of all other answers.
    """
    gap = 1 - certificate.ratio(result.value)
    claimed = result.status in (Status.OPTIMAL, Status.WITHIN_TOLERANCE)
    status = (
        Status.OPTIMAL
        if gap <= OPTIMAL_GAP
        else Status.WITHIN_TOLERANCE
        if gap <= TOLERANCE_GAP
        else Status.HEURISTIC
        if claimed
        else result.status
    )
    return replace(result, certificate=certificate, status=status, others=None)


def best_certificate(
    problem: Problem,
    result: Result | None,
    effort: str,
    report: Report,
    search: Search = Search(),
) -> Bound:
    """Return the best certificate, and a better component found on the way.

    A certificate of `result` about this very problem is returned if its bound is smaller than the one found.
    Passes over the data are reported while `_find_bound` works.
    """
    own = None if result is None else result.certificate
    own = own if own is not None and difference(problem, own) is None else None
    try:
        with telling(report):
            best, point = _find_bound(problem, result, effort, report, search)
    except Cancelled as stop:
        if own is not None:
            stop.best = _smaller(own, stop.best) if isinstance(stop.best, Certificate) else own
        raise
    return best if own is None else _smaller(own, best), point


def with_margin(problem: Problem, result: Result, report: Report, spent: float, limits: Limits) -> Result:
    """Return a result that is proved optimal with a proof of how much less all others explain.

    The proof gets as many seconds as were `spent` on the optimum, at least `MARGIN`, and no more than are
    left of the `limits`. The result stays as it is where nothing is proved in that time.
    """
    seconds = max(MARGIN, spent)
    seconds = seconds if limits.seconds is None else min(seconds, limits.seconds - spent)
    small = problem.covariance.small or not problem.covariance.on_disk
    if result.status is not Status.OPTIMAL or not result.value > 0 or not small or seconds <= 0:
        return result
    base = result.certificate
    assert base is not None  # it is proved optimal

    def quietly(event: Event) -> None:
        """Report the stage without its bounds, which are not about the optimum."""
        report(Event(event.stage, event.done, event.total))

    try:
        limits = replace(limits, seconds=seconds)
        if problem.joint:
            others = bound_others(problem, result.components, base, limits, quietly)
        else:
            x = result.components[:, 0]
            others = list_answers(problem, x, base, None, limits, quietly).certificate()
    except InvalidProblem:  # too many features are forced
        return result
    except Cancelled as stop:
        stop.best, stop.result = base, result
        raise
    is_less = others is not None and others.upper < result.value
    return replace(result, others=others) if is_less else result


def _find_bound(
    problem: Problem, result: Result | None, effort: str, report: Report, search: Search
) -> Bound:
    """Return the best of the elementary bounds, the shifted bound and the duals; see `best_certificate`."""
    value = 0.0 if result is None else result.value
    plan = "standard" if effort == EXHAUSTIVE else effort
    if problem.joint:
        lower = problem.covariance.to_unit(value, len(problem.sizes))
        X = None if result is None else result.components
        best, point = strongest(
            problem, lower, plan, report, limits=search.limits, resume=search.resume, answer=X
        )
        assert best is not None  # of several components
        return best, point
    A = problem.covariance
    smaller = min(problem.n, A.shape[0])
    factorised = smaller <= (FACTOR_LIMIT if effort == "fast" else DENSE_LIMIT)
    late = factorised and smaller > FACTOR_LIMIT and few_in_reach(A)  # a core mostly proves more in less time
    best, point = elementary.best(problem, factorised and not late), None
    best = best if search.resume is None else _smaller(best, search.resume)
    better = None
    try:
        if factorised and not late:
            best = _with_shifted(problem, result, best, report)
        if best.upper > value * (1 + CLOSED):
            if result is not None and effort != "fast" and problem.n <= DENSE_LIMIT and A.small:
                event = Event("certificate", k=problem.size, lower=value, upper=best.upper)
                better = _better_answer(problem, result, lambda _: report(event))
            value = value if better is None else problem.value(better)
            known = A.to_unit(best.upper), search.limits, best
            dual, point = strongest(problem, A.to_unit(value), plan, report, *known)
            best = best if dual is None else _smaller(best, dual)
            point = better if point is None else point
        x = None if result is None else result.components[:, 0]
        if late and A.to_unit(best.upper) > lowrank.least(problem, SHIFT_RANK, x):
            best = _with_shifted(problem, result, best, report)
    except Cancelled as stop:
        stop.best = _smaller(best, stop.best) if isinstance(stop.best, Certificate) else best
        stop.result = None  # the answer of "auto" on the way is without a certificate
        stop.point = better if stop.point is None else stop.point
        raise
    return best, point


def _better_answer(problem: Problem, result: Result, report: Report) -> Array | None:
    """Return a better component (n,) than that of `result`, or None if none is found.

    A search for a bound takes minutes below the optimum where it takes a moment from there. So the answer is
    improved by exchanges, and by "auto" unless it is from there already. Few supports are all tried.
    """
    x = single.swaps(problem, single.polish(problem, result.components[:, 0]), report)
    if result.method != "auto" or problem.value(x) > result.value * (1 + EXACT):
        x = auto.solve(problem, auto.Options(), report=report, warm=[x]).components[:, 0]
    free = np.setdiff1d(problem.usable, problem.forced)
    if math.comb(free.size, min(problem.room, free.size)) <= FEW_SUPPORTS:
        chosen = [*itertools.combinations(free.tolist(), min(problem.room, free.size))]
        X = np.zeros((problem.n, len(chosen) + 1))
        for column, own in enumerate(chosen):
            X[[*problem.forced, *own], column] = 1.0
        X[:, -1] = x
        x = single.best_of(problem, single.on_supports(problem, normalised_columns(X)))
    return x if problem.value(x) > result.value else None


def _with_shifted(problem: Problem, result: Result | None, best: Certificate, report: Report) -> Certificate:
    """Return the better of a certificate and the shifted bound B3, and report the bound."""
    start = None if result is None else _direction(problem, SHIFT_RANK, result)
    starts = () if start is None else (start,)
    best = _smaller(best, lowrank.bound(problem, SHIFT_RANK, starts=starts, report=report)[0])
    lower = 0.0 if result is None else result.value
    report(Event("certificate", k=problem.size, lower=lower, upper=best.upper))
    return best


def _smaller(one: Certificate, other: Certificate) -> Certificate:
    """Return the certificate with the smaller bound, with the tree of `other`, or else that of `one`.

    A search goes on from its last tree, whose bound may be above one that was proved before.
    """
    tree = one.tree if other.tree is None else other.tree
    is_tree = other.form == "fixing" and not other.unfinished
    best = other if other.upper < one.upper or (is_tree and other.upper == one.upper) else one
    return best if best.tree is tree else best.with_unfinished(tree)


def _direction(problem: Problem, rank: int, result: Result) -> Array | None:
    """Return the direction in the leading eigenspace for a known component, or None if it is orthogonal."""
    values, vectors = problem.covariance.leading(min(rank + 1, problem.n))
    shift = values[rank] if rank < values.size else 0.0
    c = (vectors[:, :rank] * np.sqrt(np.maximum(values[:rank] - shift, 0))).T @ result.components[:, 0]
    c = c[values[:rank] > shift]
    length = np.linalg.norm(c)
    return c / length if length > 0 else None
