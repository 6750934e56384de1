"""Would other samples give the same? Rows are drawn again with replacement, and methods run on each draw. No
Streamlit.

A standardised problem is divided by the standard deviations of the whole table, which no draw can turn into
zero.
"""

import json
from collections.abc import Iterator

import numpy as np

import nspca
from nspca.choosing.sought import inside, standardised
from nspca.choosing.stability import draws, matched
from nspca.errors import Cancelled, InvalidOption, NSPCAError
from nspca.matrix.linalg import Array
from nspca.progress import Event, Report, silent
from nspca.tasks.joint import solved
from nspca.tasks.rows import Recurred, Redrawn, Refused, pack
from nspca.tasks.sweep import NO_METHOD

RESAMPLES = 20


def run_stability(*, X, request: dict, report: Report = silent) -> bytes:
    """The supports that every method finds on `resamples` tables of rows drawn with replacement, as JSON.

    Parameters
    ----------
    X : (m, n) array or sparse matrix
    request : dict
        ``k, resamples, methods, nonneg, center, scale, seed``, and ``options`` by method where some were
        chosen

    Returns
    -------
    bytes
        JSON, method -> list of supports, each a list of features
    """
    methods = list(request["methods"])
    supports: dict[str, list[list[int]]] = {method: [] for method in methods}
    failed: NSPCAError = InvalidOption(NO_METHOD)
    total = request["resamples"]
    for b, problem in enumerate(_draws(X, request["k"], total, request)):
        for method in list(methods):
            say = inside(report, b, total, f"{method}, resample {b + 1} of {total}")
            options = request.get("options", {}).get(method, {})
            try:
                given = {"certify": None, "seed": request["seed"], "report": say}
                result = nspca.solve(problem, method, **given, **options)
            except Cancelled:
                raise
            except NSPCAError as error:
                failed = error
                methods.remove(method)
                del supports[method]
                report(Event("resample", b, total, payload=pack(Refused(method, str(error)))))
                continue
            support = np.flatnonzero(result.components[:, 0]).tolist()
            supports[method].append(support)
            report(Event("resample", b + 1, total, payload=pack(Redrawn(method, support))))
        if not methods:
            raise failed
    return json.dumps(supports).encode()


def run_joint_stability(*, X, components, request: dict, report: Report = silent) -> bytes:
    """Several components found again on every draw, each beside the one of `components` that it has most in
    common with, every one once.

    Parameters
    ----------
    X : (m, n) array or sparse matrix
    components : (n, r) array
        Those that were found on X.
    request : dict
        ``sizes, method, options, resamples, nonneg, center, scale, seed``

    Returns
    -------
    bytes
        JSON, for each draw the attributes of a `Recurred`
    """
    total, found = request["resamples"], []
    for b, problem in enumerate(_draws(X, tuple(request["sizes"]), total, request)):
        say = inside(report, b, total, f"draw {b + 1} of {total}")
        result = solved(problem, request["method"], request["options"], request["seed"], say)
        row = beside(components, result.components)
        found.append(vars(row))
        report(Event("draw", b + 1, total, payload=pack(row)))
    return json.dumps(found).encode()


def beside(X: Array, Y: Array) -> Recurred:
    """For each column of X (n, r) the column of Y (n, r) it goes with, when most is shared in all."""
    order, common = matched(X, Y)
    return Recurred(
        [np.flatnonzero(Y[:, j]).tolist() for j in order], [min(1.0, float(one)) for one in common]
    )


def _draws(X, k, count: int, request: dict) -> Iterator[nspca.Problem]:
    """The problem on rows drawn again, as often as asked for."""
    X = standardised(X) if request["scale"] else X
    for rows in draws(X.shape[0], count, request["seed"]):
        yield nspca.Problem.from_data(X[rows], k=k, nonneg=request["nonneg"], center=request["center"])
