"""Public functions `solve`, `certify` and `sweep`, which check what is asked and put the answer together.

`nspca.solving` runs the methods, and `nspca.proving` chooses the bounds and sets the status. Specs call these
functions for the pages and the command line, and users call them directly.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from nspca.certificate import Certificate
from nspca.components import at_an_angle, check_angle, check_deflation, successive
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.errors import Cancelled, InvalidOption, InvalidProblem, shown, within_memory
from nspca.problem import Problem
from nspca.progress import Event, Report, silent, telling
from nspca.proving import (
    EFFORTS,
    EXHAUSTIVE,
    Search,
    best_certificate,
    better,
    certified,
    check_belongs,
    check_effort,
    improved,
    with_margin,
)
from nspca.result import Result, Status, Sweep, handing_in, row_of
from nspca.solvers import METHODS
from nspca.solving import (
    in_memory,
    line_of,
    options_class,
    penalised,
    run_method,
    run_path,
    runner,
    select_options,
)
from nspca.validation.options import check_whole, known_seed, made


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
        Components found one after another get none. "exhaustive" also proves how much less every other set
        explains (`Result.margin`), if that takes no longer than the search, or than 5 seconds.
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
    check_effort(certify)
    options_class(method)
    check_whole("components", components, 1, problem.n)
    search = Search.of(certify, seconds, nodes, client, None)
    components = int(components)
    problem, method = _together(problem, method, components)
    if problem.forced and components > 1:
        raise InvalidOption(f"features are forced into one component, got components = {components}")
    if angle is not None:
        check_angle(angle)
    else:
        check_deflation(problem, components, deflation)
    if components == 1 and not problem.joint and (angle is not None or deflation != "drop"):
        raise InvalidOption(
            f"{'a deflation' if angle is None else 'an angle'} is between several components, got components "
            "= 1; leave it out, or ask for more"
        )
    if problem.joint and (angle is not None or deflation != "drop"):
        raise InvalidOption(
            f"{method} finds components together, without a deflation or an angle; leave that out or choose "
            "another method"
        )
    search.check(problem, components)
    run = runner(method, options, seed, report)
    if components == 1 or problem.joint:
        result = run(problem)
        if certify is not None:
            with handing_in(result):
                certificate, point = best_certificate(problem, result, certify, report, search)
            result = certified(problem, better(problem, result, point), certificate)
            if search.limits is not None:
                result = with_margin(problem, result, report, time.perf_counter() - started, search.limits)
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
                else at_an_angle(problem, components, one, angle, penalised(method, options, seed, report))
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
        A known answer to this very problem; it helps the search and is checked against the bound. If it has a
        certificate of this problem already, the better one of the two is returned.
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
    check_whole("components", components, 1, problem.n)
    check_effort(effort)
    if effort is None:
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)}, got None")
    search = Search.of(effort, seconds, nodes, client, resume)
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
    certificate, _ = best_certificate(problem, result, effort, report, search)
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

    It also has the margin to all others (`Result.margin`), if that is proved in no more time than the search
    took, or in 5 seconds.

    The parameters are those of `certify`, and `result` is required. `Cancelled` carries as its `result` the
    best answer by then, with what is proved about it. `OptimumSpec`, the command
    `solve` and the lesson about fixing call this.
    """
    _check_problem(problem)
    search = Search.of(EXHAUSTIVE, seconds, nodes, client, resume)
    report = _check_report(report)
    with telling(report):
        check_belongs(problem, result)
    search.check(problem, len(result.values))
    started = time.perf_counter()
    try:
        certificate, point = best_certificate(problem, result, EXHAUSTIVE, report, search)
    except Cancelled as stop:
        if isinstance(stop.best, Certificate):
            stop.result = certified(problem, improved(problem, result, stop.point), stop.best)
        raise
    result = certified(problem, improved(problem, result, point), certificate)
    assert search.limits is not None  # the effort is "exhaustive"
    return with_margin(problem, result, report, time.perf_counter() - started, search.limits)


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
        Effort of the certificates, None for none. After "exhaustive" the first method also has the margin.
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
    check_effort(certify)
    methods = _several(methods)
    problems = {one.size: one for one in (problem.with_k(k) for k in _several(ks))}
    if not problems or not methods:
        raise InvalidProblem("a sweep needs at least one k and one method, got none")
    chosen = {m: made(options_class(m), m, select_options(m, options, methods)) for m in methods}
    search = Search.of(certify, None, None, None, None)
    total, results, proofs, points = len(problems) * len(methods), {}, {}, {}
    paths = {
        m: run_path(m, problem, problems, chosen[m], seed, report)
        for m in methods
        if m != "auto" and METHODS[m].path and in_memory(problem)
    }
    warm: list[np.ndarray] = []
    try:
        for k in sorted(problems):
            for m in methods:
                started = time.perf_counter()
                result = (
                    paths[m][k] if m in paths else run_method(problems[k], m, chosen[m], seed, report, warm)
                )
                if certify is not None:
                    if k not in proofs:
                        proofs[k], points[k] = best_certificate(problems[k], result, certify, report, search)
                    result = better(problems[k], result, points[k])
                    result = certified(problems[k], result, proofs[k])
                    if search.limits is not None and m == methods[0]:
                        spent = time.perf_counter() - started
                        result = with_margin(problems[k], result, report, spent, search.limits)
                seconds = (paths[m][k].seconds if m in paths else 0.0) + time.perf_counter() - started
                results[m, k] = result = replace(result, seconds=seconds)
                warm = [result.components[:, 0]]
                row = row_of(m, k, result)
                report(
                    Event("sweep", len(results), total, row["value"], row["upper"], k, payload={"row": row})
                )
    except Cancelled as stop:
        stop.best = Sweep(results)
        raise
    return Sweep(results)


def _together(problem: Problem, method: str, components: int) -> tuple[Problem, str]:
    """Return the problem and the method to use, with a tuple of sizes if components are found together."""
    _check_count(problem, components)
    method = "joint" if problem.joint and method == "auto" else method
    # "auto" takes one k to mean one component after another.
    if components > 1 and not problem.joint and method != "auto" and line_of(method).joint:
        problem = problem.with_k((problem.size,) * components)
    return problem, method


def _check_count(problem: Problem, components: int) -> None:
    """Refuse a number of components, unless 1, that is not that of the sizes of the problem."""
    if problem.joint and components not in (1, len(problem.sizes)):
        raise InvalidOption(
            f"components must be the number of sizes, {len(problem.sizes)}, got {components}; leave it out"
        )


def _for_all(problem: Problem, components: int, result: Result | None) -> Problem:
    """Return the problem that a certificate for this number of components, or of the result, is about."""
    _check_count(problem, components)
    if problem.joint:
        return problem
    found = 1 if result is None else result.components.shape[1]
    if components not in (1, found) and result is not None:
        raise InvalidOption(
            f"components must be the number of components of the result, {found}, got {components}; leave "
            "it out"
        )
    count = max(components, found)
    return problem if count == 1 else problem.with_k((problem.size,) * count)


def _several(value: Any) -> tuple[Any, ...]:
    """Return the members of an iterable; a text, or anything else that is no iterable, is one member."""
    single = isinstance(value, str) or not isinstance(value, Iterable)
    return (value,) if single or (isinstance(value, np.ndarray) and value.ndim == 0) else tuple(value)


def _check_problem(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise InvalidProblem(
            f"a Problem is required, got {type(problem).__name__}; make one with nspca.Problem.from_data(X, "
            "k=...)"
        )


def _check_report(report: Report | None) -> Report:
    """Return the report hook, one that ignores events for None; refuse what cannot be called."""
    if report is not None and not callable(report):
        raise InvalidOption(f"report must be a function of one event or None, got {shown(report)}")
    return silent if report is None else report
