"""`solve`, `certify`, `sweep`: the only policy. Which method, which bound, what is said of the outcome."""

import time
from dataclasses import replace

import numpy as np

from nspca import auto
from nspca.bounds import elementary, lowrank, strongest
from nspca.bounds.effort import CLOSED
from nspca.bounds.joint import certify_joint
from nspca.certificate import Certificate
from nspca.components import at_an_angle, successive
from nspca.covariance import DENSE_LIMIT
from nspca.errors import InvalidOption, InvalidProblem
from nspca.options import made, whole
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.solvers import METHODS
from nspca.sweeps import Sweep, row_of

EFFORTS = ("fast", "standard", "thorough")
"""What a certificate may cost: less than the solve, seconds, minutes."""
SHIFT_RANK = 3
"""Rank of the shifted bound B3: milliseconds, and a start for the others to beat."""
FACTOR_LIMIT = 2000
"""Above this size of the smaller side a proof by factorisation takes seconds: left to "standard" and "thorough"."""
OPTIMAL_GAP = 1e-8
"""Relative gap below which an answer is called optimal: what the rounding slack of a certificate can hide."""
TOLERANCE_GAP = 1e-3
"""Relative gap below which an answer is called optimal within tolerance."""


def solve(
    problem: Problem,
    method="auto",
    components=1,
    seed=0,
    report: Report | None = None,
    certify="fast",
    deflation="drop",
    angle: float | None = None,
    **options,
) -> Result:
    """Sparse (nonnegative) principal components of `problem`, with a certificate.

    Parameters
    ----------
    problem : Problem
    method : str
        "auto" or a key of `METHODS`.
    components : int
        r, found together by methods that do so (`METHODS[method].joint`), else one after another; see `deflation`. When k is a
        tuple of sizes, r is their number, the method a joint one, and "auto" means "joint".
    seed : int
    report : callable, optional
        ``report(event)`` gets an `Event` now and then, and may raise `Cancelled`.
    certify : str or None
        Effort of the certificate ("fast", "standard", "thorough"), None for none. Not for components found one after another.
    deflation : str
        What is changed before the next component: a key of `nspca.components.DEFLATIONS`; "drop" leaves used features out.
    angle : float, optional
        Instead of a deflation: the smallest angle in degrees between any two components.
    **options
        Options of the method; see ``METHODS[method].Options``.

    Returns
    -------
    Result
    """
    started = time.perf_counter()
    report = report or silent
    _known_effort(certify)
    whole("components", components, 1, problem.n)
    problem, method = _together(problem, method, components)
    run = _runner(method, options, seed, report)
    if components == 1 or isinstance(problem.k, tuple):
        result = run(problem)
        if certify is not None:
            certificate, _, point = _certificate(problem, result, certify, report)
            result = certified(problem, better(problem, result, point), certificate)
    else:
        one = lambda part: run(part).components[:, 0]  # noqa: E731
        X = successive(problem, components, one, deflation) if angle is None else at_an_angle(problem, components, one, angle)
        result = Result.of(problem, X, Status.HEURISTIC, method)
    return replace(result, seconds=time.perf_counter() - started)


def certify(problem: Problem, result: Result | None = None, components=1, effort="standard", report: Report | None = None) -> Certificate:
    """The strongest upper bound on the optimum of `problem` that `effort` buys.

    Parameters
    ----------
    problem : Problem
    result : Result, optional
        A known answer; it helps the search and is checked against the bound.
    components : int
        r > 1, or a problem whose k is a tuple of sizes: the bound on the sum over r disjoint components.
    effort : "fast", "standard" or "thorough"
    report : callable, optional

    Returns
    -------
    Certificate
        Checked by ``nspca.verify(data, certificate)``.
    """
    whole("components", components, 1, problem.n)
    if components > 1 and isinstance(problem.k, int):
        problem = problem.with_k((problem.k,) * components)
    _known_effort(effort)
    if effort is None:
        raise InvalidOption("effort must be 'fast', 'standard' or 'thorough', got None")
    certificate, _, _ = _certificate(problem, result, effort, report or silent)
    if result is not None:
        certificate.ratio(result.value)
    return certificate


def sweep(problem: Problem, ks, methods=("auto",), certify="fast", report: Report | None = None, seed=0, **options) -> Sweep:
    """Every method at every k, each k with one certificate shared by the methods.

    `report` gets an event after every row, with the row in its payload.

    Parameters
    ----------
    problem : Problem
        Its own k is not used.
    ks : iterable of int
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
    report = report or silent
    _known_effort(certify)
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    problems = {one.k: one for one in (_single(problem.with_k(k)) for k in ks)}
    if not problems or not methods:
        raise InvalidProblem("a sweep needs at least one k and one method, got none")
    chosen = {m: made(_options_class(m), m, _understood(m, options, methods)) for m in methods}
    total, results, proofs, points = len(problems) * len(methods), {}, {}, {}
    paths = {m: _path(m, problem, problems, chosen[m], seed, report) for m in methods if m != "auto" and METHODS[m].path}
    warm, state = [], None
    for k in sorted(problems):
        for m in methods:
            started = time.perf_counter()
            result = paths[m][k] if m in paths else _run(problems[k], m, chosen[m], seed, report, warm)
            if certify is not None:
                if k not in proofs:
                    proofs[k], state, points[k] = _certificate(problems[k], result, certify, report, state)
                result = better(problems[k], result, points[k])
                result = certified(problems[k], result, proofs[k])
            seconds = (paths[m][k].seconds if m in paths else 0.0) + time.perf_counter() - started
            results[m, k] = result = replace(result, seconds=seconds)
            warm = [result.components[:, 0]]
            row = row_of(m, k, result)
            report(Event("sweep", len(results), total, lower=row["value"], upper=row["upper"], k=k, payload={"row": row}))
    return Sweep(results)


def better(problem: Problem, result: Result, point) -> Result:
    """`result` of "auto" with a better component that the search for its certificate came upon; other methods keep their own."""
    if point is None or result.method != "auto" or problem.value(point) <= result.value:
        return result
    return Result.of(problem, point, result.status, "auto", **result.info | {"found_by": "certificate"})


def certified(problem: Problem, result: Result, certificate: Certificate) -> Result:
    """`result` with its certificate and the status that the two together justify."""
    gap = 1 - certificate.ratio(result.value)
    status = Status.OPTIMAL if gap <= OPTIMAL_GAP else Status.WITHIN_TOLERANCE if gap <= TOLERANCE_GAP else result.status
    return replace(result, certificate=certificate, status=status)


def _certificate(problem, result, effort, report, warm=None) -> tuple[Certificate, object, object]:
    """The best of the elementary bounds, the shifted one and the duals; what helps the next k; a component found on the way."""
    value = 0.0 if result is None else result.value
    if isinstance(problem.k, tuple):
        return certify_joint(problem, value / problem.covariance.unit, effort, report), None, None
    smaller = min(problem.n, problem.covariance.shape[0])
    factorised = smaller <= (FACTOR_LIMIT if effort == "fast" else DENSE_LIMIT)
    found = [elementary.best(problem, factorised)]
    if factorised:
        start = None if result is None else _direction(problem, SHIFT_RANK, result)
        found.append(lowrank.bound(problem, SHIFT_RANK, starts=() if start is None else (start,), report=report)[0])
        report(Event("certificate", k=problem.k, lower=value, upper=min(c.upper for c in found)))
    best = min(found, key=lambda certificate: certificate.upper)
    point = None
    if best.upper > value * (1 + CLOSED):
        dual, warm, point = strongest(problem, value / problem.covariance.unit, effort, report, warm)
        best = best if dual is None else min(best, dual, key=lambda certificate: certificate.upper)
    return best, warm, point


def _direction(problem, rank, result):
    """The direction of the leading eigenspace that belongs to a known component; None when it has no part in it."""
    values, vectors = problem.covariance.leading(min(rank + 1, problem.n))
    shift = values[rank] if rank < values.size else 0.0
    c = (vectors[:, :rank] * np.sqrt(np.maximum(values[:rank] - shift, 0))).T @ result.components[:, 0]
    c = c[values[:rank] > shift]
    length = np.linalg.norm(c)
    return c / length if length > 0 else None


def _together(problem, method, components):
    """The problem with a tuple of sizes when the components are to be found together, and the method that does it."""
    sizes = isinstance(problem.k, tuple)
    if sizes and components not in (1, len(problem.k)):
        raise InvalidOption(f"components must be the number of sizes, {len(problem.k)}, got {components}; leave it out")
    method = "joint" if sizes and method == "auto" else method
    line = METHODS.get(method)
    if sizes and line is not None and not line.joint:
        able = ", ".join(name for name, line in METHODS.items() if line.joint)
        raise InvalidOption(f"several sizes need a method that finds components together ({able}), got {method!r}")
    if components > 1 and line is not None and line.joint and not sizes:
        problem = problem.with_k((problem.k,) * components)
    return problem, method


def _single(problem):
    if not isinstance(problem.k, int):
        raise InvalidProblem(f"one k is required here, got sizes {problem.k}; use solve for joint problems")
    return problem


def _known_effort(effort):
    if effort is not None and effort not in EFFORTS:
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)} or None, got {effort!r}")


def _options_class(method):
    if method == "auto":
        return auto.Options
    if method not in METHODS:
        raise InvalidOption(f"method must be 'auto' or one of {', '.join(METHODS)}, got {method!r}")
    return METHODS[method].Options


def _understood(method, options, methods):
    """Options of a sweep go to the methods that know them; one that no method knows is an error."""
    known = {name for m in methods for name in _options_class(m).__dataclass_fields__}
    unknown = sorted(set(options) - known)
    if unknown:
        raise InvalidOption(f"no method of this sweep has an option {unknown[0]!r}; theirs are {', '.join(sorted(known))}")
    return {name: value for name, value in options.items() if name in _options_class(method).__dataclass_fields__}


def _runner(method, given, seed, report):
    options = made(_options_class(method), method, given)
    return lambda problem: _run(problem, method, options, seed, report)


def _run(problem, method, options, seed, report, warm=()):
    started = time.perf_counter()
    if method == "auto":
        result = auto.solve(problem, options, seed, report, warm)
    else:
        _able(method, problem)
        result = METHODS[method].solve(problem, options, seed, report)
    return replace(result, method=method, seconds=time.perf_counter() - started)


def _able(method, problem):
    line = METHODS[method]
    if not (line.nonneg if problem.nonneg else line.signed):
        sign = "nonnegative" if problem.nonneg else "signed"
        raise InvalidOption(f"{method} has no {sign} form; choose another method or the other sign")


def _path(method, problem, problems, options, seed, report):
    """One pass for all k; its time is shared out evenly."""
    _able(method, problem)
    started = time.perf_counter()
    results = METHODS[method].path(problem, list(problems), options, seed, report)
    share = (time.perf_counter() - started) / len(problems)
    return {k: replace(result, seconds=share) for k, result in results.items()}
