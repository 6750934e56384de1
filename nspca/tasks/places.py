"""In or out, for a page: what takes seconds with some data, made by a worker."""

import nspca
from nspca.progress import Report, silent
from nspca.tasks.sweep import how, make_problem


def run_places(*, X, covariance: bool, request: dict, component, certificate: bytes, report: Report = silent):
    """`nspca.membership` of a component as bytes.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, or the (n, n) covariance
    request : dict
        ``k, nonneg, center, scale, forced``, and ``within``: the share in thousandths.
    component : (n,) array
    certificate : the file of one of this problem
    """
    problem = make_problem(X, covariance, request["k"], **how(request))
    result = nspca.Result.of(problem, component, nspca.Status.HEURISTIC, "known")
    proof, share = nspca.Certificate.from_bytes(certificate), request["within"] / 1000
    return nspca.membership(problem, result, proof, share, report=report).to_bytes()
