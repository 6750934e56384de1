"""Several disjoint components, found at once and one by one, as a run in a worker. No Streamlit."""

import time
from dataclasses import replace

import numpy as np

import nspca
from nspca.errors import Cancelled, NSPCAError
from nspca.options import made
from nspca.progress import Event, Report, silent
from nspca.solvers import METHODS, joint
from nspca.tasks import make_problem

AT_ONCE = {"joint": joint} | {name: line for name, line in METHODS.items() if line.joint}
"""Methods that find all components together."""
MOST_SENT = 4000
"""Nonzero weights that one progress message carries; above, pictures wait for the end of the run."""


def run_joint(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """Every method on the same problem, then one certificate for all, as the bytes of an `nspca.Sweep` with keys (method, r).

    Each method reports a row as soon as it is ready; one that cannot solve the problem reports its sentence, and the others go on.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, or the (n, n) covariance
    request : dict
        ``sizes`` of the components, ``methods, options`` by method, ``effort`` of the certificate or None, ``nonneg, center, scale,
        seed``; what else it says is for the pages.

    Raises
    ------
    NSPCAError
        When no method could solve the problem.
    """
    sizes, methods = tuple(request["sizes"]), request["methods"]
    problem = make_problem(X, covariance, sizes, nonneg=request["nonneg"], center=request["center"], scale=request["scale"])
    found, failed = {}, None
    for done, method in enumerate(methods):
        say = _speaking(report, done, len(methods), method)
        say(Event("starting"))
        started = time.perf_counter()
        try:
            result = _solved(problem, method, request.get("options", {}).get(method, {}), request["seed"], say)
        except Cancelled:
            raise
        except NSPCAError as error:
            failed = error
            report(Event("method", done + 1, len(methods), payload={"row": {"method": method, "error": str(error)}}))
            continue
        found[method] = replace(result, method=method, seconds=time.perf_counter() - started)
        report(Event("method", done + 1, len(methods), payload={"row": row_of(found[method])}))
    if not found:
        raise failed
    if request["effort"] is not None:
        try:
            found = _certified(problem, found, request["effort"], _speaking(report, len(methods), len(methods), "proof"))
        except Cancelled:
            raise
        except NSPCAError as error:  # the components are there, proved or not
            report(Event("no bound", payload={"row": {"method": "proof", "error": str(error)}}))
    return nspca.Sweep({(method, len(sizes)): result for method, result in found.items()}).to_bytes()


def row_of(result: nspca.Result) -> dict:
    """What a viewer needs of a result before the run ends; `result_of` is its inverse up to six digits of the weights."""
    X = result.components
    parts = [[np.flatnonzero(x).tolist(), [float(f"{w:.6g}") for w in x[x != 0]]] for x in X.T]
    parts = parts if np.count_nonzero(X) <= MOST_SENT else None
    return {"method": result.method, "values": result.values.tolist(), "seconds": result.seconds, "parts": parts}


def result_of(row: dict, n: int) -> nspca.Result | None:
    """The result of a row, without its certificate; None when the row carries no components."""
    if row.get("parts") is None:
        return None
    X = np.zeros((n, len(row["parts"])))
    for j, (support, weights) in enumerate(row["parts"]):
        X[support, j] = weights
    return nspca.Result(X, np.array(row["values"]), nspca.Status.HEURISTIC, row["method"], seconds=row["seconds"])


def _solved(problem: nspca.Problem, method: str, options: dict, seed: int, report: Report) -> nspca.Result:
    if method in AT_ONCE:
        line = AT_ONCE[method]
        return line.solve(problem, made(line.Options, method, options), seed, report)
    return one_by_one(problem, method, options, seed, report)


def one_by_one(problem: nspca.Problem, method: str, options: dict, seed: int, report: Report) -> nspca.Result:
    """Components of the given sizes in turn, each without the features of those before: how the 2014 and 2015 papers deflate."""
    left, X, reached = np.arange(problem.n), np.zeros((problem.n, len(problem.k))), 0.0
    for j, size in enumerate(problem.k):
        report(Event(f"component {j + 1} of {len(problem.k)}", j, len(problem.k), lower=reached))
        part = nspca.Problem(problem.covariance.restrict(left), size, problem.nonneg)
        quiet = _inside(report, j, len(problem.k), reached)
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
    """Events that say which method they are about, and how far the whole run is: a method of several stages does not go back."""
    furthest = 0.0

    def say(event: Event) -> None:
        nonlocal furthest
        furthest = max(furthest, min(1.0, event.done / event.total if event.total else 0.0))
        report(replace(event, payload={"method": who, "share": (done + furthest) / (total + 1)}))

    return say


def _certified(problem: nspca.Problem, found: dict[str, nspca.Result], effort: str, report: Report) -> dict[str, nspca.Result]:
    """All results with the one bound that holds for every way to find them."""
    best = max(found.values(), key=lambda result: result.value)
    report(Event("looking for a bound", lower=best.value))
    certificate = nspca.certify(problem, best, components=len(problem.k), effort=effort, report=report)
    return {method: result.with_certificate(certificate) for method, result in found.items()}
