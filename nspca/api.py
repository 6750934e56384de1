"""Public functions `solve`, `certify` and `sweep`, which choose methods and bounds and set the status.

The smallest of the bounds that are tried becomes the certificate: elementary bounds, the shifted bound where
A can be factorised, and duals unless the gap is closed already. `nspca.bounds.plan` has the rows, steps and
cones that each effort allows. `nspca.bounds.strongest` has the order of the duals and when they stop;
`nspca.bounds.joint` and `nspca.bounds.together` have it for several components. `nspca.solvers.auto` has the
starts of "auto". Specs call these functions for the pages and the command line, and users call them directly.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from nspca.bounds import elementary, lowrank
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.plan import CLOSED, FACTOR_LIMIT, PLANS
from nspca.bounds.strongest import strongest
from nspca.bounds.together import prove_joint
from nspca.certificate import Certificate, require_about
from nspca.components import at_an_angle, check_angle, check_deflation, successive
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.large import LargeCovariance
from nspca.covariance.linalg import Array
from nspca.covariance.sharded import ShardedCovariance
from nspca.covariance.waves import check_client
from nspca.errors import Cancelled, InvalidOption, InvalidProblem, shown, within_memory
from nspca.local_search import outside
from nspca.presentation.numerals import OPTIMAL_GAP
from nspca.problem import Problem
from nspca.progress import Event, Report, silent, telling
from nspca.result import Result, Status, Sweep, handing_in, row_of
from nspca.solvers import METHODS, Method, auto
from nspca.validation.options import known_seed, made, whole

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
ON_SOME = ("auto", "joint")
"""Methods that use only some features of large data in memory. Other methods follow their papers and use
all.
"""
TOLERANCE_GAP = 1e-3
"""Relative gap below which an answer is called optimal within tolerance."""


@within_memory()
def solve(
    problem: Problem,
    method: str = "auto",
    components: int = 1,
    seed: int = 0,
    report: Report | None = None,
    certify: str | None = "fast",
    deflation: str = "drop",
    angle: float | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    client: Any = None,
    **options: Any,
) -> Result:
    """Return sparse (nonnegative) principal components of `problem`, with a certificate.

    Parameters
    ----------
    problem : Problem
    method : str
        "auto" or a key of `METHODS`.
    components : int
        Number of components. Methods with `METHODS[method].joint` find them together; others find one after
        another, see `deflation`. When k is a tuple of sizes, there is one component for each, the method must
        be a joint one, and "auto" means "joint".
    seed : int
    report : callable, optional
        ``report(event)`` gets an `Event` now and then, and may raise `Cancelled`. The attribute `result` of
        the exception is then the best result by that time.
    certify : str or None
        Effort of the certificate ("fast", "standard", "thorough", "exhaustive"), or None for no certificate.
        Components found one after another get none.
    deflation : str
        A key of `nspca.components.DEFLATIONS`, applied before the search for each further component; "drop"
        leaves used features out.
    angle : float, optional
        Smallest angle in degrees between any two components, instead of a deflation.
    seconds, nodes, client
        For effort "exhaustive"; see `certify`.
    **options
        Options of the method; see ``METHODS[method].Options``.

    Returns
    -------
    Result
    """
    started = time.perf_counter()
    report, seed = _check_report(report), known_seed(seed)
    _check_problem(problem)
    _check_effort(certify)
    _options_class(method)
    whole("components", components, 1, problem.n)
    search = _Search.of(certify, seconds, nodes, client, None)
    components = int(components)
    problem, method = _together(problem, method, components)
    if problem.forced and components > 1:
        raise InvalidOption(f"features are forced into one component, got components = {components}")
    if angle is not None:
        check_angle(angle)
    else:
        check_deflation(problem, components, deflation)
    if problem.joint and (angle is not None or deflation != "drop"):
        raise InvalidOption(
            f"{method} finds components together, without a deflation or an angle; leave that out or choose "
            "another method"
        )
    search.check(problem, components)
    run = _runner(method, options, seed, report)
    if components == 1 or problem.joint:
        result = run(problem)
        if certify is not None:
            with handing_in(result):
                certificate, _, point = _certificate(problem, result, certify, report, search=search)
            result = certified(problem, better(problem, result, point), certificate)
    elif not in_memory(problem):
        raise InvalidOption(
            f"one component after another is sought in at most {DENSE_LIMIT} features of shards, got "
            f"{problem.n}; give their sizes, k = ({problem.k},) * {components}, to find them together"
        )
    else:
        one = lambda part: run(part).components[:, 0]  # noqa: E731
        try:
            X = (
                successive(problem, components, one, deflation)
                if angle is None
                else at_an_angle(problem, components, one, angle, _penalised(method, options, seed, report))
            )
        except Cancelled as stop:
            stop.result = stop.result and replace(stop.result, method=method)
            raise
        result = Result.of(problem, X, Status.HEURISTIC, method)
    return replace(result, seconds=time.perf_counter() - started)


@within_memory()
def certify(
    problem: Problem,
    result: Result | None = None,
    components: int = 1,
    effort: str = "standard",
    report: Report | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    client: Any = None,
    resume: Certificate | None = None,
) -> Certificate:
    """Return a certificate of the smallest upper bound on the optimum of `problem` found with this `effort`.

    Parameters
    ----------
    problem : Problem
    result : Result, optional
        A known answer to this very problem; it helps the search and is checked against the bound.
    components : int
        Number of disjoint components whose sum is bounded, if more than 1. The number also follows from a
        `result` of several components, or from a problem whose k is a tuple of sizes.
    effort : "fast", "standard", "thorough" or "exhaustive"
        "exhaustive" searches until the optimum is proved or a limit is reached, for one component or for
        several together.
    report : callable, optional
        When it raises `Cancelled`, the attribute `best` of the exception is the best certificate by then.
    seconds : float, optional
        For effort "exhaustive": wall time after which the search ends. A first bound is always computed.
    nodes : int, optional
        For effort "exhaustive": number of settled nodes after which the search ends.
    client : distributed.Client, optional
        For effort "exhaustive": client of a Dask cluster whose workers settle the nodes. The tree does not
        depend on their number, unless `seconds` ends it. The client of `Problem.from_shards` is the default.
        Where all workers are lost, `nspca.errors.WorkersLost` carries what was ready, as `Cancelled` does.
    resume : Certificate, optional
        For effort "exhaustive": the certificate of an earlier search for this problem, which is continued.
        Its claims are taken over, and `nspca.verify` proves them with the rest. A certificate without a tree
        is a first bound; one of effort "standard" for several components also spares its computation.

    Returns
    -------
    Certificate
        Checked by ``nspca.verify(data, certificate)``.
    """
    _check_problem(problem)
    whole("components", components, 1, problem.n)
    _check_effort(effort)
    if effort is None:
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)}, got None")
    search = _Search.of(effort, seconds, nodes, client, resume)
    if not isinstance(result, Result | None):
        raise InvalidProblem(
            f"a known answer must be a Result, got {type(result).__name__}; leave it out, or pass what "
            "solve gave"
        )
    problem = _for_all(problem, int(components), result)
    search.check(problem, 1)
    report = _check_report(report)
    if result is not None:
        with telling(report):
            check_belongs(problem, result)
    certificate, _, _ = _certificate(problem, result, effort, report, search=search)
    if result is not None:
        certificate.ratio(result.value)
    return certificate


@within_memory()
def prove_optimum(
    problem: Problem,
    result: Result,
    report: Report | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    client: Any = None,
    resume: Certificate | None = None,
) -> Result:
    """Return `result` with a certificate of effort "exhaustive", or a better answer that its search found.

    The parameters are those of `certify`, and `result` is required. `Cancelled` carries as its `result` the
    best answer by then, with what is proved about it. `OptimumSpec`, the command
    `solve` and the lesson about fixing call this.
    """
    _check_problem(problem)
    search = _Search.of(EXHAUSTIVE, seconds, nodes, client, resume)
    report = _check_report(report)
    with telling(report):
        check_belongs(problem, result)
    search.check(problem, len(result.values))
    try:
        certificate, _, point = _certificate(problem, result, EXHAUSTIVE, report, search=search)
    except Cancelled as stop:
        if isinstance(stop.best, Certificate):
            stop.result = certified(problem, _improved(problem, result, stop.point), stop.best)
        raise
    return certified(problem, _improved(problem, result, point), certificate)


@within_memory()
def sweep(
    problem: Problem,
    ks: Iterable[int] | int,
    methods: Iterable[str] | str = ("auto",),
    certify: str | None = "fast",
    report: Report | None = None,
    seed: int = 0,
    **options: Any,
) -> Sweep:
    """Return the results of every method at every k; all methods share one certificate for each k.

    `report` gets an event after every row, with the row in its payload. When it raises `Cancelled`, the
    attribute `best` of the exception is the `Sweep` of finished rows.

    Parameters
    ----------
    problem : Problem
        Its own k is not used.
    ks : iterable of int, or one
    methods : sequence of str
    certify : str or None
        Effort of the certificates, None for none.
    report : callable, optional
    seed : int
    **options
        Passed to every method that has an option of that name.

    Returns
    -------
    Sweep
        ``sweep.frame`` has a row per method and k, ``sweep[method, k]`` the Result.
    """
    report, seed = _check_report(report), known_seed(seed)
    _check_problem(problem)
    _check_effort(certify)
    methods = _several(methods)
    problems = {one.size: one for one in (problem.with_k(k) for k in _several(ks))}
    if not problems or not methods:
        raise InvalidProblem("a sweep needs at least one k and one method, got none")
    chosen = {m: made(_options_class(m), m, _select_options(m, options, methods)) for m in methods}
    search = _Search.of(certify, None, None, None, None)
    total, results, proofs, points = len(problems) * len(methods), {}, {}, {}
    paths = {
        m: _path(m, problem, problems, chosen[m], seed, report)
        for m in methods
        if m != "auto" and METHODS[m].path and in_memory(problem)
    }
    warm: list[np.ndarray] = []
    state = None
    try:
        for k in sorted(problems):
            for m in methods:
                started = time.perf_counter()
                result = paths[m][k] if m in paths else _run(problems[k], m, chosen[m], seed, report, warm)
                if certify is not None:
                    if k not in proofs:
                        proofs[k], state, points[k] = _certificate(
                            problems[k], result, certify, report, state, search
                        )
                    result = better(problems[k], result, points[k])
                    result = certified(problems[k], result, proofs[k])
                seconds = (paths[m][k].seconds if m in paths else 0.0) + time.perf_counter() - started
                results[m, k] = result = replace(result, seconds=seconds)
                warm = [result.components[:, 0]]
                row = row_of(m, k, result)
                report(
                    Event(
                        "sweep",
                        len(results),
                        total,
                        lower=row["value"],
                        upper=row["upper"],
                        k=k,
                        payload={"row": row},
                    )
                )
    except Cancelled as stop:
        stop.best = Sweep(results)
        raise
    return Sweep(results)


def line_of(method: str) -> Method:
    """Return the description of a method: its line of `METHODS`, or that of "auto".

    Raises
    ------
    InvalidOption
        For another name.
    """
    if isinstance(method, str) and method == "auto":
        return auto.LINE
    if not isinstance(method, str) or method not in METHODS:
        raise InvalidOption(f"method must be 'auto' or one of {', '.join(METHODS)}, got {shown(method)}")
    return METHODS[method]


def better(problem: Problem, result: Result, point: Array | None) -> Result:
    """Return the result of "auto" or "joint" with a better answer `point` that the search for a bound found,
    if any.

    Results of other methods are returned unchanged.
    """
    return _improved(problem, result, point) if result.method in ("auto", "joint") else result


def _improved(problem: Problem, result: Result, point: Array | None) -> Result:
    """Return `result`, or the answer `point`, (n,) or (n, r), in its place if that explains more."""
    if point is None or sum(problem.value(x) for x in np.atleast_2d(point.T)) <= result.value:
        return result
    return Result.of(
        problem, point, result.status, result.method, **result.info | {"found_by": "certificate"}
    )


def certified(problem: Problem, result: Result, certificate: Certificate) -> Result:
    """Return `result` with its certificate, and with the status that the proved gap justifies."""
    gap = 1 - certificate.ratio(result.value)
    status = (
        Status.OPTIMAL
        if gap <= OPTIMAL_GAP
        else Status.WITHIN_TOLERANCE
        if gap <= TOLERANCE_GAP
        else result.status
    )
    return replace(result, certificate=certificate, status=status)


Bound: TypeAlias = tuple[Certificate, Any, Array | None]
"""Best certificate, a state that helps the next k (`strongest.Warm`), and a component found on the way."""


@dataclass(frozen=True)
class _Search:
    """Options of effort "exhaustive": its limits, and the certificate to go on from; None for
    other efforts.
    """

    limits: Limits | None = None
    resume: Certificate | None = None

    @classmethod
    def of(
        cls, effort: str | None, seconds: Any, nodes: Any, client: Any, resume: Certificate | None
    ) -> "_Search":
        """Return the checked options, which are refused for other efforts."""
        given = {"seconds": seconds, "nodes": nodes, "client": client, "resume": resume}
        named = [name for name, value in given.items() if value is not None]
        if effort != EXHAUSTIVE:
            if named:
                raise InvalidOption(
                    f"{named[0]} is for effort 'exhaustive', got effort {shown(effort)}; leave {named[0]} out"
                )
            return cls()
        number = isinstance(seconds, int | float | np.integer | np.floating) and not isinstance(seconds, bool)
        if seconds is not None and not (number and 0 <= seconds < np.inf):
            raise InvalidOption(f"seconds must be a number of at least 0, or None, got {shown(seconds)}")
        if nodes is not None:
            whole("nodes", nodes, 1, 10**12)
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


def _certificate(
    problem: Problem,
    result: Result | None,
    effort: str,
    report: Report,
    warm: Any = None,
    search: _Search = _Search(),
) -> Bound:
    """Return the best certificate, a state that helps the next k, and a component found on the way.

    `warm` is the state from the k before. Passes over the data are reported while `_find_bound` works.
    """
    with telling(report):
        return _find_bound(problem, result, effort, report, warm, search)


def _find_bound(
    problem: Problem, result: Result | None, effort: str, report: Report, warm: Any, search: _Search
) -> Bound:
    """Return the best of the elementary bounds, the shifted bound and the duals, as `_certificate` does."""
    value = 0.0 if result is None else result.value
    if problem.joint:
        lower = problem.covariance.to_unit(value, len(problem.sizes))
        X = None if result is None else result.components
        plan = "standard" if effort == EXHAUSTIVE else effort
        best, point = prove_joint(problem, lower, plan, report, X, search.limits, search.resume)
        return best, None, point
    smaller = min(problem.n, problem.covariance.shape[0])
    factorised = smaller <= (FACTOR_LIMIT if effort == "fast" else DENSE_LIMIT)
    best, point = elementary.best(problem, factorised), None
    best = best if search.resume is None else _smaller(best, search.resume)
    try:
        if factorised:
            start = None if result is None else _direction(problem, SHIFT_RANK, result)
            shifted, _ = lowrank.bound(
                problem, SHIFT_RANK, starts=() if start is None else (start,), report=report
            )
            best = _smaller(best, shifted)
            report(Event("certificate", k=problem.size, lower=value, upper=best.upper))
        if best.upper > value * (1 + CLOSED):
            A = problem.covariance
            plan = "standard" if effort == EXHAUSTIVE else effort
            known = A.to_unit(best.upper), search.limits, best.tree
            dual, warm, point = strongest(problem, A.to_unit(value), plan, report, warm, *known)
            best = best if dual is None else _smaller(best, dual)
    except Cancelled as stop:
        stop.best = _smaller(best, stop.best) if isinstance(stop.best, Certificate) else best
        raise
    return best, warm, point


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


def _together(problem: Problem, method: str, components: int) -> tuple[Problem, str]:
    """Return the problem and the method to use, with a tuple of sizes if components are found together."""
    if problem.joint and components not in (1, len(problem.sizes)):
        raise InvalidOption(
            f"components must be the number of sizes, {len(problem.sizes)}, got {components}; leave it out"
        )
    method = "joint" if problem.joint and method == "auto" else method
    # "auto" takes one k to mean one component after another.
    if components > 1 and not problem.joint and method != "auto" and line_of(method).joint:
        problem = problem.with_k((problem.size,) * components)
    return problem, method


def _for_all(problem: Problem, components: int, result: Result | None) -> Problem:
    """Return the problem that a certificate for this number of components, or of the result, is about."""
    if problem.joint:
        if components not in (1, len(problem.sizes)):
            raise InvalidOption(
                f"components must be the number of sizes, {len(problem.sizes)}, got {components}; leave it "
                "out"
            )
        return problem
    found = 1 if result is None else result.components.shape[1]
    if components not in (1, found) and result is not None:
        raise InvalidOption(
            f"components must be the number of components of the result, {found}, got {components}; leave "
            "it out"
        )
    count = max(components, found)
    return problem if count == 1 else problem.with_k((problem.size,) * count)


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


def in_memory(problem: Problem) -> bool:
    """Tell whether methods can work on the whole A; otherwise they work on some of the features of shards."""
    return not isinstance(problem.covariance, ShardedCovariance) or problem.covariance.small


def _several(value: Any) -> tuple[Any, ...]:
    """Return the members of an iterable; a text, or anything else that is no iterable, is one member."""
    single = isinstance(value, str) or not isinstance(value, Iterable)
    return (value,) if single or (isinstance(value, np.ndarray) and value.ndim == 0) else tuple(value)


def _check_problem(problem: Any) -> None:
    """Refuse a value that is no `Problem`."""
    if not isinstance(problem, Problem):
        raise InvalidProblem(
            f"a Problem is required, got {type(problem).__name__}; make one with nspca.Problem.from_data(X, "
            "k=...)"
        )


def _check_effort(effort: Any) -> None:
    """Refuse a value that is neither None nor one of `EFFORTS`."""
    if effort is not None and not (isinstance(effort, str) and effort in EFFORTS):
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)} or None, got {shown(effort)}")


def _check_report(report: Report | None) -> Report:
    """Return the report hook, one that ignores events for None; refuse what cannot be called."""
    if report is not None and not callable(report):
        raise InvalidOption(f"report must be a function of one event or None, got {shown(report)}")
    return silent if report is None else report


def _options_class(method: str) -> Any:
    """Return the class of the options of a method."""
    return line_of(method).Options


def _select_options(method: str, options: Mapping[str, Any], methods: Iterable[str]) -> dict[str, Any]:
    """Return the options of a sweep that this method has; refuse options that no method has."""
    known = {name for m in methods for name in _options_class(m).__dataclass_fields__}
    unknown = sorted(set(options) - known)
    if unknown:
        raise InvalidOption(
            f"no method of this sweep has an option {unknown[0]!r}; theirs are {', '.join(sorted(known))}"
        )
    return {
        name: value for name, value in options.items() if name in _options_class(method).__dataclass_fields__
    }


def _runner(method: str, given: dict[str, Any], seed: int, report: Report) -> Callable[[Problem], Result]:
    """Return a function that solves a problem by a method with its options."""
    options = made(_options_class(method), method, given)
    return lambda problem: _run(problem, method, options, seed, report)


def _penalised(method: str, given: dict[str, Any], seed: int, report: Report) -> Any:
    """Return the function by which a method keeps an angle between components; None if it has none.

    See `Method.penalised`, and `nspca.components.at_an_angle`, which calls the function.
    """
    line = line_of(method)
    return line.penalised and line.penalised(made(line.Options, method, given), seed, report)


def _run(
    problem: Problem, method: str, options: Any, seed: int, report: Report, warm: Sequence[Array] = ()
) -> Result:
    """Return the result of a method; large data are solved on some features, see `local_search.outside`.

    `warm` holds known components, each (n,), which only "auto" starts from.
    """
    started, line = time.perf_counter(), line_of(method)
    line.check(problem, options)

    def run(part: Problem, features: Any, report: Report) -> Result:
        """Return the result of the method for a part of the problem that has only these features."""
        more = {"warm": [x[features] for x in warm]} if method == "auto" else {}
        return line.solve(part, options, seed, report, **more)

    some = not in_memory(problem) or (
        method in ON_SOME and isinstance(problem.covariance, LargeCovariance) and outside.fits(problem)
    )
    with telling(report):
        result = outside.solved(problem, run, report, warm) if some else run(problem, slice(None), report)
    return replace(result, method=method, seconds=time.perf_counter() - started)


def _path(
    method: str, problem: Problem, problems: Mapping[int, Problem], options: Any, seed: int, report: Report
) -> dict[int, Result]:
    """Return the results by k of a method that solves all `problems` (by k) in one call of `Method.path`.

    Each result has an equal share of the seconds.
    """
    started, line = time.perf_counter(), line_of(method)
    line.check(next(iter(problems.values())), options)
    assert line.path is not None  # the caller has asked
    with telling(report):
        results = line.path(problem, list(problems), options, seed, report)
    share = (time.perf_counter() - started) / len(problems)
    return {k: replace(result, seconds=share) for k, result in results.items()}
