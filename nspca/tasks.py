"""What runs in a worker: jobs call these by name, with arrays and plain values, and get bytes back. No Streamlit."""

import json
import math
import time
from dataclasses import replace

import nspca
from nspca.api import OPTIMAL_GAP
from nspca.bounds import lowrank
from nspca.covariance import DENSE_LIMIT
from nspca.errors import Cancelled, CertificateError
from nspca.progress import Event, Report, silent

PAPER = "upper_paper"
"""Name of the 2014 paper's bound, in the rows and in the `info` of the results of a sweep."""
PAPER_RANK, PAPER_TOLERANCE = 3, 1e-4
MORE = ("standard", "thorough")
"""Efforts that "prove more" goes through."""


def make_problem(X, covariance: bool, k: int, *, nonneg: bool = True, center: bool = True, scale: bool = False) -> nspca.Problem:
    """The problem of a data set, whether it is a table or a covariance."""
    if covariance:
        return nspca.Problem.from_covariance(X, k=k, nonneg=nonneg)
    return nspca.Problem.from_data(X, k=k, nonneg=nonneg, center=center, scale=scale)


def paper_bound(problem: nspca.Problem, report: Report = silent) -> float | None:
    """B2, the optimum of the rank-3 part plus the fourth eigenvalue, in the units of the data; None where the eigenvalues cost too much.

    What Asteris et al. (2014) prove, computed for the very problem that our own bound is about, and never above the leading
    eigenvalue, which everybody knows to be a bound: the comparison is a fair one.
    """
    if min(problem.n, problem.covariance.shape[0]) > DENSE_LIMIT:
        return None
    own = lowrank.bound(problem, PAPER_RANK, shifted=False, tol=PAPER_TOLERANCE, report=report)[0].upper
    return min(own, problem.leading_eigenvalue)


def run_sweep(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """`nspca.sweep` as the bytes of its `Sweep`; every row and result carries the paper's bound beside ours, under `PAPER`.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, or the (n, n) covariance
    request : dict
        ``first, last, step`` of k, ``methods, effort, nonneg, center, scale, seed``; what else it says is for the pages.
    """
    ks = range(request["first"], request["last"] + 1, request["step"])
    problem = make_problem(X, covariance, ks[0], nonneg=request["nonneg"], center=request["center"], scale=request["scale"])
    paper: dict[int, float | None] = {}

    def completed(event: Event) -> None:
        row = event.payload.get("row")
        if row is not None:
            if row["k"] not in paper:
                paper[row["k"]] = paper_bound(problem.with_k(row["k"]))
            event = replace(event, payload={"row": {**row, PAPER: paper[row["k"]]}})
        report(event)

    sweep = nspca.sweep(problem, ks, methods=tuple(request["methods"]), certify=request["effort"], report=completed, seed=request["seed"])
    full = {(method, k): replace(sweep[method, k], info={**sweep[method, k].info, PAPER: paper[k]}) for method, k in sweep}
    return nspca.Sweep(full).to_bytes()


def prove_more(*, X, covariance: bool, question: dict, component, report: Report = silent) -> bytes:
    """The strongest certificate of standard, then thorough effort, as its bytes; stops when the gap is closed.

    A cancelled run gives the best that was proved by then.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, or the (n, n) covariance
    question : dict
        ``k, nonneg, center, scale``; what else it says is for the pages.
    component : (n,) array
        A known answer: it says how far the bound can come down.
    """
    options = {name: question[name] for name in ("nonneg", "center", "scale")}
    problem = make_problem(X, covariance, question["k"], **options)
    known = nspca.Result.of(problem, component, nspca.Status.HEURISTIC, "known")
    closing, best = Closing(report, known.value), None
    for effort in MORE:
        closing.effort = effort
        try:
            found = nspca.certify(problem, known, effort=effort, report=closing)
        except Cancelled as stop:
            proved = [certificate for certificate in (best, stop.best) if certificate is not None]
            if not proved:
                raise
            best = min(proved, key=lambda certificate: certificate.upper)
            break
        best = found if best is None else min(best, found, key=lambda certificate: certificate.upper)
        closing(Event("certificate", k=problem.k, upper=best.upper))
        if best.ratio(known.value) >= 1 - OPTIMAL_GAP:
            break
    return best.to_bytes()


class Closing:
    """A `report` hook that adds a row (seconds, lower, upper, effort) whenever the bound has come down."""

    def __init__(self, report: Report, lower: float):
        self.report, self.lower, self.upper, self.effort = report, lower, math.inf, ""
        self.started = time.perf_counter()

    def __call__(self, event: Event) -> None:
        if event.upper is not None and event.upper < self.upper:
            self.upper = event.upper
            row = {"seconds": time.perf_counter() - self.started, "lower": self.lower, "upper": self.upper, "effort": self.effort}
            event = replace(event, payload={**event.payload, "row": row})
        self.report(replace(event, lower=self.lower, upper=None if math.isinf(self.upper) else self.upper))


def check(*, X, certificate: bytes, report: Report = silent) -> bytes:
    """`nspca.verify` of a certificate file, as JSON: ``upper`` and ``seconds``, or the sentence of its ``refusal``."""
    report(Event("verify"))
    started = time.perf_counter()
    try:
        said = {"upper": nspca.verify(X, nspca.Certificate.from_bytes(certificate)), "refusal": ""}
    except CertificateError as error:
        said = {"upper": None, "refusal": str(error)}
    return json.dumps({**said, "seconds": time.perf_counter() - started}).encode()
