"""Several disjoint components, found at once and one by one, as a run in a worker. No Streamlit."""

import time
from dataclasses import replace

import numpy as np

import nspca
from nspca.api import line_of
from nspca.errors import Cancelled, InvalidOption, NSPCAError
from nspca.progress import Event, Report, silent
from nspca.tasks.rows import Climbed, Refused, Several, pack
from nspca.tasks.sweep import NO_METHOD, Closing, cheapest_first, make_problem
from nspca.tasks.table import given

WORTH = 1e-6
"""Relative gain from which better components are reported."""


def run_joint(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """Every method on the same problem, then one certificate for all, as the bytes of an `nspca.Sweep` with
    keys (method, r).

    The cheapest method runs first. Each reports a row as soon as it is ready, and one that finds components
    together at every improvement; one that cannot solve the problem reports its sentence, and the others go
    on. A cancelled run hands in what was ready.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, the (n, n) covariance, or a folder as `table.given` takes it
    request : dict
        ``sizes`` of the components, ``methods, options`` by method, ``effort`` of the certificate or None,
        ``nonneg, center, scale, seed``; what else it says is for the pages.

    Raises
    ------
    NSPCAError
        When no method could solve the problem.
    """
    sizes, methods = tuple(request["sizes"]), request["methods"]
    X, report = given(X, report)
    problem = make_problem(
        X, covariance, sizes, nonneg=request["nonneg"], center=request["center"], scale=request["scale"]
    )
    found: dict[str, nspca.Result] = {}
    failed: list[NSPCAError] = [InvalidOption(NO_METHOD)]

    def packed() -> bytes:
        return nspca.Sweep(
            {(method, len(sizes)): found[method] for method in methods if method in found}
        ).to_bytes()

    try:
        for done, method in enumerate(cheapest_first(methods)):
            _find(problem, method, request, found, failed, _speaking(report, done, len(methods), method))
            row = Several.of(found[method]) if method in found else Refused(method, str(failed[-1]))
            report(Event("method", done + 1, len(methods), payload=pack(row)))
        if not found:
            raise failed[-1]
        if request["effort"] is not None:
            _certify(problem, found, request["effort"], len(methods), report)
    except Cancelled as stop:
        stop.result = packed() if found else None
        raise
    return packed()


def _find(
    problem: nspca.Problem, method: str, request: dict, found: dict, failed: list, report: Report
) -> None:
    """Add what a method finds to `found`, also when it is cancelled on the way, or why it cannot to
    `failed`.
    """
    report(Event("starting"))
    started = time.perf_counter()
    try:
        result = solved(problem, method, request.get("options", {}).get(method, {}), request["seed"], report)
    except Cancelled as stop:
        if isinstance(stop.result, nspca.Result):
            found[method] = replace(stop.result, method=method, seconds=time.perf_counter() - started)
        raise
    except NSPCAError as error:
        failed.append(error)
        return
    found[method] = replace(result, method=method, seconds=time.perf_counter() - started)


def solved(problem: nspca.Problem, method: str, options: dict, seed: int, report: Report) -> nspca.Result:
    """All components by one method; the policy is `nspca.solve`'s, and so is the sentence of one that
    cannot.
    """
    if line_of(method).joint:
        return nspca.solve(problem, method, seed=seed, report=report, certify=None, **options)
    return one_by_one(problem, method, options, seed, report)


def one_by_one(
    problem: nspca.Problem, method: str, options: dict, seed: int, report: Report = silent
) -> nspca.Result:
    """Components of the given sizes in turn, each without the features of those before: how the 2014 and 2015
    papers deflate.
    """
    left, X, reached = np.arange(problem.n), np.zeros((problem.n, len(problem.sizes))), 0.0
    for j, size in enumerate(problem.sizes):
        report(Event(f"component {j + 1} of {len(problem.sizes)}", j, len(problem.sizes), lower=reached))
        part = nspca.Problem(problem.covariance.restrict(left), size, problem.nonneg)
        quiet = _inside(report, j, len(problem.sizes), reached)
        result = nspca.solve(part, method, certify=None, seed=seed, report=quiet, **options)
        X[left, j] = result.components[:, 0]
        reached += result.value
        left = left[result.components[:, 0] == 0]
    return nspca.Result.of(problem, X, nspca.Status.HEURISTIC, method)


def _inside(report: Report, done: int, total: int, reached: float) -> Report:
    """The events of one component inside the run of them all."""
    stage = f"component {done + 1} of {total}"
    return lambda event: report(Event(stage, done, total, lower=reached + (event.lower or 0.0)))


def _speaking(report: Report, done: int, total: int, who: str) -> Report:
    """Events that say which method they are about, and how far the whole run is: a method of several stages
    does not go back.

    What is better than all before becomes a row, of a method whose events carry the components: its answer
    never falls. Others may leave again what they come upon, since they choose by other values.
    """
    furthest, reached, started = 0.0, 0.0, time.perf_counter()

    def say(event: Event) -> None:
        nonlocal furthest, reached
        furthest = max(furthest, min(1.0, event.done / event.total if event.total else 0.0))
        payload = {"method": who, "share": (done + furthest) / (total + 1)}
        components, value = event.payload.get("components"), event.lower
        if components is not None and value is not None and value > reached * (1 + WORTH):
            reached = value
            payload |= pack(Climbed(who, time.perf_counter() - started, reached, components))
        report(replace(event, lower=reached or value, payload=payload))

    return say


def _certify(
    problem: nspca.Problem, found: dict[str, nspca.Result], effort: str, done: int, report: Report
) -> None:
    """Give all results the one bound that holds for every way to find them; of a cancelled search, what it
    had by then. Each time the bound has come down is a row.
    """
    best = max(found.values(), key=lambda result: result.value)
    say = _speaking(Closing(report, best.value, effort), done, done, "proof")
    say(Event("looking for a bound", lower=best.value))
    certificate = None
    try:
        certificate = nspca.certify(problem, best, components=len(problem.sizes), effort=effort, report=say)
    except Cancelled as stop:
        certificate = stop.best if isinstance(stop.best, nspca.Certificate) else None
        raise
    except NSPCAError as error:  # the components are there, proved or not
        report(Event("no bound", payload=pack(Refused("proof", str(error)))))
    finally:
        found |= {method: result.with_certificate(certificate) for method, result in found.items()}
