"""What runs in a worker: jobs call these by name, with arrays and plain values, and get bytes back. No Streamlit."""

import nspca
from nspca.progress import Report, silent


def make_problem(X, covariance: bool, k: int, *, nonneg: bool = True, center: bool = True, scale: bool = False) -> nspca.Problem:
    """The problem of a data set, whether it is a table or a covariance."""
    if covariance:
        return nspca.Problem.from_covariance(X, k=k, nonneg=nonneg)
    return nspca.Problem.from_data(X, k=k, nonneg=nonneg, center=center, scale=scale)


def run_sweep(*, X, covariance: bool, request: dict, report: Report = silent) -> bytes:
    """`nspca.sweep` as the bytes of its `Sweep`.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, or the (n, n) covariance
    request : dict
        ``first, last, step`` of k, ``methods, effort, nonneg, center, scale, seed``; what else it says is for the pages.
    """
    ks = range(request["first"], request["last"] + 1, request["step"])
    problem = make_problem(X, covariance, ks[0], nonneg=request["nonneg"], center=request["center"], scale=request["scale"])
    sweep = nspca.sweep(problem, ks, methods=tuple(request["methods"]), certify=request["effort"], report=report, seed=request["seed"])
    return sweep.to_bytes()
