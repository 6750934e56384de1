"""What the compare page runs in workers: methods against each other, and what the papers use components for.
No Streamlit.
"""

import json
import time
from dataclasses import replace

import numpy as np

import nspca
from nspca.api import certified, line_of
from nspca.components import explained_variances, successive
from nspca.errors import Cancelled, InvalidOption, NSPCAError
from nspca.papers import uses
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.tasks.rows import Explained, Found, Proved, Refused, Row, Scored, pack
from nspca.tasks.sweep import NO_METHOD, cheapest_first, make_problem

SHARED = 10
"""Leading eigenvectors that are computed before the clock starts: every method takes them from the same
place.
"""
STARTS = 100
PARTS, PART_SIZE = 10, 36
"""Components of the face detection, and pixels in each: ten disjoint parts of a 19 x 19 image have 36 at
most.
"""
TRAIN_FACES, TRAIN_OTHERS = 1000, 2000
COMPONENTS = 6
PROPS = (
    ("pca, every feature", None, False),
    ("auto, any sign", "auto", False),
    ("em, any sign", "em", False),
    ("greedy, any sign", "greedy", False),
    ("auto, nonnegative", "auto", True),
    ("coordinate, nonnegative", "coordinate", True),
)
"""Name, method (None for plain eigenvectors), nonnegative: the curves of the pitprops figure."""


def run_compare(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """Every method at every k, then one certificate for each k; the bytes of an `nspca.Sweep`.

    The methods do not see each other's answers, and what all of them need is computed before the first one
    starts: values and seconds are then those of the method; the cheapest runs first. A method that cannot
    solve the problem reports its sentence, and the others go on. A cancelled run hands in what was ready.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, or the (n, n) covariance
    request : dict
        ``ks, methods, effort, nonneg, center, scale, seed`` and ``options`` by method; what else it says is
        for the pages.

    Raises
    ------
    NSPCAError
        When no method could solve the problem.
    """
    ks, methods = request["ks"], request["methods"]
    problem = _problem(X, covariance, request, ks[0])
    _share(problem, methods, report)
    found: dict[tuple[str, int], nspca.Result] = {}

    def packed() -> bytes:
        return nspca.Sweep(
            {(method, k): found[method, k] for method in methods for k in ks if (method, k) in found}
        ).to_bytes()

    try:
        _values(problem, request, found, report)
        _proofs(problem, request, found, report)
    except Cancelled as stop:
        stop.result = packed() if found else None
        raise
    return packed()


def _options(request: dict, method: str) -> dict:
    """What was changed of the method's options; of most requests nothing."""
    return request.get("options", {}).get(method, {})


def _values(problem: Problem, request: dict, found: dict, report: Report) -> None:
    """Add to `found` what every method finds at every k, the cheapest method first."""
    ks, methods = request["ks"], request["methods"]
    failed: NSPCAError = InvalidOption(NO_METHOD)
    total = len(ks) * (len(methods) + 1)
    for i, method in enumerate(cheapest_first(methods)):
        say = _moved(report, i * len(ks), total, method, rows=True)
        try:
            found |= nspca.sweep(
                problem,
                ks,
                methods=(method,),
                certify=None,
                seed=request["seed"],
                report=say,
                **_options(request, method),
            ).results
        except Cancelled as stop:
            found |= stop.best.results if isinstance(stop.best, nspca.Sweep) else {}
            raise
        except NSPCAError as error:
            failed = error
            report(Event(method, (i + 1) * len(ks), total, payload=pack(Refused(method, str(error)))))
    if not found:
        raise failed


def _proofs(problem: Problem, request: dict, found: dict, report: Report) -> None:
    """Give all results of one k the one certificate that holds for every method; of a cancelled search, what
    it had by then.
    """
    ks, before = request["ks"], len(request["ks"]) * len(request["methods"])
    for i, k in enumerate(ks):
        mine = {key: result for key, result in found.items() if key[1] == k}
        best = max(mine.values(), key=lambda result: result.value)
        certificate, say = None, _moved(report, before + i, before + len(ks), f"proof for k = {k}")
        try:
            certificate = nspca.certify(problem.with_k(k), best, effort=request["effort"], report=say)
        except Cancelled as stop:
            certificate = stop.best if isinstance(stop.best, nspca.Certificate) else None
            raise
        finally:
            if certificate is not None:
                found |= {
                    key: certified(problem.with_k(k), result, certificate) for key, result in mine.items()
                }
        row, done = Proved(k, certificate.upper, certificate.kind), before + i + 1
        report(
            Event(
                "proof",
                done,
                before + len(ks),
                lower=best.value,
                upper=certificate.upper,
                k=k,
                payload=pack(row),
            )
        )


def run_components(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """`count` components of every method, each without the features of those before unless the request names
    a deflation or an angle; the bytes of a Sweep with keys (method, count).

    The `info` of each result holds the variance explained by the first 1, 2, ... under the names of
    `explained_variances`.

    Parameters
    ----------
    request : dict
        ``k, count, methods, nonneg, center, scale, seed``, ``options`` by method, ``deflation`` or ``angle``
    """
    problem, count = _problem(X, covariance, request, request["k"]), request["count"]

    def one(method: str, say: Report) -> tuple[nspca.Result, Row]:
        between = {name: request[name] for name in ("deflation", "angle") if name in request}
        result = nspca.solve(
            problem,
            method,
            components=count,
            seed=request["seed"],
            report=say,
            certify=None,
            **between,
            **_options(request, method),
        )
        curves = {
            name: values.tolist() for name, values in explained_variances(problem, result.components).items()
        }
        return replace(result, method=method, info={**result.info, **curves}), Explained(
            method, curves, result.seconds
        )

    found = _each(request["methods"], one, report)
    return nspca.Sweep({(method, count): result for method, result in found.items()}).to_bytes()


def run_genes(*, X, labels, request: dict, report: Report = silent) -> bytes:
    """Scores of k-means on selected genes, as JSON rows ``selection, genes, mean, spread`` (sigg2008, Fig.
    4).

    Parameters
    ----------
    X : (m, n) raw intensities
    labels : (m,)
    request : dict
        ``counts, starts, prepared`` ("log" or "standardised"), ``seed``
    """
    started = time.perf_counter()

    def say(event: Event) -> None:
        line = event.payload.get("line")
        report(event if line is None else replace(event, payload=pack(Scored(line))))

    rows = uses.gene_rows(
        X, labels, request["counts"], request["prepared"], request["starts"], request["seed"], say
    )
    return json.dumps(
        {"rows": rows, "features": rows[0]["genes"], "seconds": time.perf_counter() - started}
    ).encode()


def run_detection(*, faces, nonfaces, test_faces, request: dict, report: Report = silent) -> bytes:
    """ROC curves of face detection with ten components, as JSON rows ``method, test, false, true, area``
    (zass2006, Fig. 4).

    The components come from 1000 training faces, the machine from those and 2000 non-faces; it is tested on
    the other training faces, and on the faces of the test set, against the other non-faces.

    Parameters
    ----------
    faces, nonfaces, test_faces : (., n) images, one in each row
    request : dict
        ``methods, seed``
    """
    rng = np.random.default_rng(request["seed"])
    faces, nonfaces = faces[rng.permutation(len(faces))], nonfaces[rng.permutation(len(nonfaces))]
    known, others = min(TRAIN_FACES, len(faces) // 2), min(TRAIN_OTHERS, len(nonfaces) // 2)
    train, rest = (faces[:known], nonfaces[:others]), nonfaces[others:]
    tests = {"rest": (faces[known:], rest), "test set": (test_faces, rest)}
    problem = Problem.from_data(train[0], k=min(PART_SIZE, faces.shape[1] // PARTS), nonneg=True)
    rows, methods = [], request["methods"]
    for i, method in enumerate(methods):
        report(Event(method, i, len(methods)))
        U = _face_components(
            problem, train[0], method, request["seed"], _moved(report, i, len(methods), method)
        )
        for name, curve in uses.detection_curve(U, train, tests, request["seed"]).items():
            rows.append(
                {"method": method, "test": name, "area": curve["area"], "pixels": int(np.count_nonzero(U))}
            )
            rows[-1] |= {side: _thinned(curve[side]) for side in ("false", "true")}
            report(Event(method, i + 1, len(methods), payload=pack(Scored(rows[-1]))))
    return json.dumps(rows).encode()


def _face_components(problem: Problem, faces, method: str, seed: int, report: Report):
    if method == "pca":
        return problem.covariance.leading(PARTS)[1]
    if method == "nmf":
        return uses.principal_parts(faces, PARTS, seed)
    signed = method.endswith(" signed")
    one = replace(problem, nonneg=not signed)
    return nspca.solve(
        one, method.removesuffix(" signed"), components=PARTS, seed=seed, report=report, certify=None
    ).components


def _thinned(values, most: int = 400) -> list[float]:
    """A curve of steps for a screen: its ends and evenly chosen corners between."""
    at = np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int))
    return [round(float(values[i]), 5) for i in at]


def run_pitprops(*, A, request: dict, report: Report = silent) -> bytes:
    """Six components of a correlation matrix by several methods, as JSON rows
    ``method, cardinality, total, adjusted, subspace``.

    Every list runs over the first 1 to 6 components (zass2006, Fig. 5).

    Parameters
    ----------
    A : (n, n)
    request : dict
        ``k`` features in each component, ``seed``
    """
    rows = []
    for i, (name, method, nonneg) in enumerate(PROPS):
        report(Event(name, i, len(PROPS)))
        problem = Problem.from_covariance(A, k=request["k"], nonneg=nonneg)
        if method is None:
            U = problem.covariance.leading(COMPONENTS)[1]
        else:
            U = _projected(problem, method, request["seed"], _moved(report, i, len(PROPS), name))
        curves = {key: values.tolist() for key, values in explained_variances(problem, U).items()}
        rows.append(
            {"method": name, "cardinality": np.cumsum(np.count_nonzero(U, axis=0)).tolist(), **curves}
        )
        report(Event(name, i + 1, len(PROPS), payload=pack(Scored(rows[-1]))))
    return json.dumps(rows).encode()


def _projected(problem: Problem, method: str, seed: int, report: Report):
    """Components in turn, each projected out of A before the next (sigg2008, eq. 18); they may share
    features.
    """
    one = lambda part: nspca.solve(part, method, seed=seed, report=report, certify=None).components[:, 0]  # noqa: E731
    return successive(problem, COMPONENTS, one, "projection")


# --- shared ---------------------------------------------------------------------------------------


def _problem(X, covariance: bool, request: dict, k: int) -> Problem:
    return make_problem(
        X, covariance, k, nonneg=request["nonneg"], center=request["center"], scale=request["scale"]
    )


def _share(problem: Problem, methods, report: Report) -> None:
    """What would otherwise count as the first method's time: eigenvectors, and the import of scikit-learn."""
    report(Event("leading eigenvectors"))
    problem.covariance.leading(min(SHARED, problem.n))
    if any(line_of(name).baseline for name in methods):
        import sklearn.decomposition  # noqa: F401


def _each(methods, one, report: Report) -> dict[str, nspca.Result]:
    """``one(method, report)`` for all; a row for each as it is ready, a sentence for one that cannot; raises
    when none can.
    """
    found: dict[str, nspca.Result] = {}
    failed: NSPCAError = InvalidOption(NO_METHOD)
    for i, method in enumerate(methods):
        try:
            found[method], row = one(method, _moved(report, i, len(methods), method))
        except Cancelled:
            raise
        except NSPCAError as error:
            failed, row = error, Refused(method, str(error))
        report(Event(method, i + 1, len(methods), payload=pack(row)))
    if not found:
        raise failed
    return found


def _moved(report: Report, done: int, total: int, stage: str, rows: bool = False) -> Report:
    """The events of a part inside the whole: how far the whole is, and what is being done; rows of a part
    pass if asked for.
    """

    def say(event: Event) -> None:
        row = event.payload.get("row") if rows else None
        within = min(1.0, event.done / event.total) if event.total else 0.0
        whole = event.done if row is not None else within
        report(
            Event(
                stage,
                int(done + whole),
                total,
                k=event.k if rows else None,
                payload={} if row is None else pack(Found(**row)),
            )
        )

    return say
