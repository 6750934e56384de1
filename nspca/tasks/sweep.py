"""What runs in a worker: jobs call these by name, with arrays and plain values, and get bytes back. No
Streamlit.
"""

import json
import math
import time
from collections.abc import Mapping
from dataclasses import replace

import nspca
from nspca.api import OPTIMAL_GAP, line_of
from nspca.bounds import lowrank
from nspca.errors import Cancelled, CertificateError
from nspca.matrix.covariance import DENSE_LIMIT
from nspca.progress import Event, Report, silent
from nspca.solvers import epsnet
from nspca.tasks.rows import Closer, Found, pack
from nspca.tasks.table import Reading, given

RANK_3, EPSNET, PROBABILITY = "upper_rank3", "upper_epsnet", "epsnet_probability"
"""Names, in the rows and in the `info` of the results of a sweep, of the two bounds beside ours: see
`rank3_bound`, `paper_bounds`.
"""
OTHERS = (RANK_3, EPSNET, PROBABILITY)
PAPER = epsnet.Options(rank=3, eps=0.1)
"""As in the experiments of the 2014 paper."""
RANK_3_TOLERANCE = 1e-4
NO_METHOD = "at least one method is required, got none; choose one"
MORE = ("standard", "thorough")
"""Efforts that "prove more" goes through."""


def make_problem(
    X,
    covariance: bool,
    k: int | tuple[int, ...],
    *,
    nonneg: bool = True,
    center: bool = True,
    scale: bool = False,
    forced=(),
) -> nspca.Problem:
    """The problem of a data set, whether it is a table, a folder of shards or a covariance."""
    if isinstance(X, Reading):
        return nspca.Problem.from_shards(X, k=k, nonneg=nonneg, center=center, scale=scale, forced=forced)
    if covariance:
        return nspca.Problem.from_covariance(X, k=k, nonneg=nonneg, forced=forced)
    return nspca.Problem.from_data(X, k=k, nonneg=nonneg, center=center, scale=scale, forced=forced)


def cheapest_first(methods) -> list[str]:
    """The order in which several methods run: what is quick is seen at once, while the others still work."""
    return sorted(methods, key=lambda method: line_of(method).cost)


def rank3_bound(problem: nspca.Problem, report: Report = silent) -> float | None:
    """B2, the exact optimum of the rank-3 part plus the fourth eigenvalue: the exact form of the 2014 paper's
    bound, and proved.

    In the units of the data; None where the eigenvalues cost too much.
    """
    if _too_large(problem):
        return None
    return lowrank.bound(problem, PAPER.rank, shifted=False, tol=RANK_3_TOLERANCE, report=report)[0].upper


def paper_bounds(
    problem: nspca.Problem, ks, seed: int = 0, report: Report = silent
) -> tuple[Mapping[int, float | None], float | None]:
    """What Asteris et al. (2014) compute: the value of their eps-net on the rank-3 part over 1 - eps, plus
    the fourth eigenvalue. Nothing is forced there, so it holds where something is.

    Returns
    -------
    upper : dict
        By k, in the units of the data; None where the eigenvalues cost too much.
    probability : float or None
        That they hold for all `ks` together, at least: nothing is proved by them.
    """
    if _too_large(problem):
        return dict.fromkeys(ks), None
    return epsnet.upper_bounds(replace(problem, forced=()), ks, PAPER, seed, report)


def _too_large(problem):
    return min(problem.n, problem.covariance.shape[0]) > DENSE_LIMIT


def run_sweep(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """`nspca.sweep` as the bytes of its `Sweep`; every row and result carries the bounds beside ours, under
    the names in `OTHERS`.

    A cancelled run hands in the same of what was ready by then.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, the (n, n) covariance, or a folder as `table.given` takes it
    request : dict
        ``ks, methods, effort, nonneg, center, scale, seed``, and ``forced`` where features are; what else it
        says is for the pages.
    """
    ks = values_of_k(request)
    X, report = given(X, report)
    problem = make_problem(X, covariance, ks[0], **how(request))
    paper, probability = paper_bounds(problem, ks, request["seed"], report)
    beside: dict[int, dict] = {}

    def completed(event: Event) -> None:
        row = event.payload.get("row")
        if row is not None:
            k = row["k"]
            if k not in beside:
                beside[k] = {
                    RANK_3: rank3_bound(problem.with_k(k)),
                    EPSNET: paper[k],
                    PROBABILITY: probability,
                }
            event = replace(event, payload=pack(Found(**row, **beside[k])))
        report(event)

    def packed(sweep: nspca.Sweep) -> bytes:
        full = {
            (method, k): replace(sweep[method, k], info=sweep[method, k].info | beside[k])
            for method, k in sweep
            if k in beside
        }
        return nspca.Sweep(full).to_bytes()

    options = {"methods": tuple(request["methods"]), "certify": request["effort"], "seed": request["seed"]}
    try:
        return packed(nspca.sweep(problem, ks, report=completed, **options))
    except Cancelled as stop:
        stop.result = packed(stop.best) if beside else None
        raise


def how(request: dict) -> dict:
    """What a request says of the problem besides k."""
    words = {name: request[name] for name in ("nonneg", "center", "scale")}
    return words | {"forced": request.get("forced", ())}


def values_of_k(request: dict) -> list[int] | range:
    """Every k of a sweep; runs stored before these were listed name a first, a last and a step."""
    return request["ks"] if "ks" in request else range(request["first"], request["last"] + 1, request["step"])


def prove_more(*, X, covariance: bool, question: dict, component, report: Report = silent) -> bytes:
    """The strongest certificate of one effort after the other, as its bytes; stops when the gap is closed.

    A cancelled run hands in the best that was proved by then.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, the (n, n) covariance, or a folder as `table.given` takes it
    question : dict
        ``k``, or the sizes of several components, ``nonneg, center, scale``, ``forced`` where features are,
        and ``efforts`` if not all; what else it says is for the pages.
    component : (n,) or (n, r) array
        A known answer: it says how far the bound can come down.
    """
    X, report = given(X, report)
    k = question["k"]
    problem = make_problem(X, covariance, k if isinstance(k, int) else tuple(k), **how(question))
    known = nspca.Result.of(problem, component, nspca.Status.HEURISTIC, "known")
    closing = Closing(report, known.value)
    best: nspca.Certificate | None = None
    for effort in question.get("efforts") or MORE:
        closing.effort = effort
        try:
            found = nspca.certify(problem, known, effort=effort, report=closing)
        except Cancelled as stop:
            proved = [
                certificate for certificate in (best, stop.best) if isinstance(certificate, nspca.Certificate)
            ]
            if proved:
                stop.result = min(proved, key=lambda certificate: certificate.upper).to_bytes()
            raise
        best = found if best is None else min(best, found, key=lambda certificate: certificate.upper)
        closing(Event("certificate", k=max(problem.sizes), upper=best.upper))
        if best.ratio(known.value) >= 1 - OPTIMAL_GAP:
            break
    assert best is not None  # every effort gives one, or raises
    return best.to_bytes()


class Closing:
    """A `report` hook that adds a `Closer` whenever the bound has come down."""

    def __init__(self, report: Report, lower: float, effort: str = ""):
        self.report, self.lower, self.upper, self.effort = report, lower, math.inf, effort
        self.started = time.perf_counter()

    def __call__(self, event: Event) -> None:
        if event.upper is not None and event.upper < self.upper:
            self.upper = event.upper
            row = Closer(time.perf_counter() - self.started, self.lower, self.upper, self.effort)
            event = replace(event, payload={**event.payload, **pack(row)})
        self.report(replace(event, lower=self.lower, upper=None if math.isinf(self.upper) else self.upper))


def check(*, X, certificate: bytes, asked: dict, report: Report = silent) -> bytes:
    """`nspca.checker.entry` of a certificate file, as JSON: ``upper`` and ``seconds``, or the sentence of its
    ``refusal``.

    `asked` is the problem it must be about: ``k, nonneg, center, scale, source, forced``.
    """
    X, report = given(X, report)
    report(Event("verify"))
    started = time.perf_counter()
    try:
        said = {"upper": nspca.verify(X, nspca.Certificate.from_bytes(certificate), **asked), "refusal": ""}
    except CertificateError as error:
        said = {"upper": None, "refusal": str(error)}
    return json.dumps({**said, "seconds": time.perf_counter() - started}).encode()
