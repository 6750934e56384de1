"""Baselines from scikit-learn, truncated to k entries: `spca`, `nmf` and `pca`.

No baseline maximises x'Ax over k-sparse x. Each yields loadings. The k largest entries of a loading are kept
and brought to length 1 (nonnegative problem: the k largest positive ones, of the better sign). So the value
is what a user gets by truncating the loading. ``info["renormalised_value"]`` is the value of the best weights
on the same support.

`spca`  ``min 1/2 |Z' - v d'|^2 + penalty |v|_1`` over v and ``|d| <= 1``, as ``SparsePCA(n_components=1)``
        computes it. It is called through ``dict_learning``, which can keep v nonnegative and reports while it
        runs (Mairal et al. 2009).
`nmf`   ``min |X - WH|^2`` over nonnegative W (m, rank) and H (rank, n) (Lee & Seung 1999). The best row of
        H is taken. Data must be nonnegative, so features are shifted until their smallest value is 0.
`pca`   The leading eigenvector, as ``PCA(n_components=1)`` computes it. It is stored with the covariance.

Guarantee: none.
Cost: one loop over all features in Python for every step of `spca`; one factorisation for `nmf`.
"""

# Called by `nspca.solving`, through `METHODS`, mostly for methods side by side.

import operator
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.covariance.data import RowsCovariance
from nspca.covariance.linalg import Array
from nspca.covariance.rows import with_columns
from nspca.errors import Refused
from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions

DENSE_ENTRIES = 50_000_000
"""Maximum entries of a sparse table that is made dense for a method that needs it: 400 MB."""
SLICE = 10
"""Number of iterations of `nmf` between two progress reports."""
ROOM = 3
"""The default penalty of `spca` leaves this times k entries of the first principal component.

The best of 1 to 4 on faces, digits and spectra.
"""
RANK = 1e-12
"""Singular values of `nmf`'s table below this share of the largest are zero."""
SMALLEST_PENALTY = 1e-6
"""Penalty of `spca`, relative to the largest entry, if all features may stay: 0 is not allowed."""


@dataclass(frozen=True)
class SparsePCAOptions(MethodOptions):
    """Options of `spca`.

    Attributes
    ----------
    penalty : float or None
        Weight of the l1 norm, as a share of the weight that leaves no entry of the first principal component.
        When None, the weight leaves 3k of its entries, since later steps remove more of them.
    iterations : int
        Maximum number of alternations.
    tol : float
        Relative decrease of the cost below which the method stops.
    """

    penalty: float | None = None
    iterations: int = 100
    tol: float = 1e-8


@dataclass(frozen=True)
class NMFOptions(MethodOptions):
    """Options of `nmf`.

    Attributes
    ----------
    rank : int
        Parts of the factorisation; the best one is taken.
    iterations : int
        Maximum number of coordinate descent iterations.
    tol : float
        Relative decrease of the squared error over ten iterations below which the method stops.
    """

    rank: int = 10
    iterations: int = 200
    tol: float = 1e-4


@dataclass(frozen=True)
class PCAOptions(MethodOptions):
    """`pca` has no options."""


def pca(problem: Problem, options: PCAOptions, seed: int = 0, report: Report = silent) -> Result:
    """Return the truncated leading eigenvector."""
    report(Event("leading eigenvector", k=problem.size))
    return truncated(problem, problem.covariance.leading(1)[1], "pca")


def spca(problem: Problem, options: SparsePCAOptions, seed: int = 0, report: Report = silent) -> Result:
    """Return the truncated loading of a one-component SparsePCA."""
    Z = _data(problem).dense_table()
    report(Event("sparse pca", 0, options.iterations, k=problem.size))
    from sklearn.decomposition import dict_learning

    u = problem.covariance.leading(1)[1]
    scores = Z @ u
    entries = np.sort(np.abs(Z.T @ scores)[:, 0])[::-1] / max(float(np.linalg.norm(scores)), 1e-300)
    if entries[0] == 0.0:
        return truncated(problem, u, "spca", iterations=0)
    share = (
        entries[min(ROOM * problem.size, problem.n - 1)] / entries[0]
        if options.penalty is None
        else options.penalty
    )
    share = max(float(share), SMALLEST_PENALTY)
    learn: dict[str, Any] = {
        "alpha": share * float(entries[0]),
        "max_iter": options.iterations,
        "tol": options.tol,
        "random_state": reduce_seed(seed),
        "return_n_iter": True,
    }
    learn |= {"method": "cd", "positive_code": problem.nonneg, "code_init": u, "dict_init": scores.T}
    tell = lambda state: report(Event("sparse pca", state["ii"] + 1, options.iterations, k=problem.size))  # noqa: E731
    with warnings.catch_warnings():
        # Whether the inner solver converged only changes the value of a baseline.
        warnings.simplefilter("ignore")
        v, _, _, steps = dict_learning(Z.T, 1, callback=tell, **learn)
    return truncated(
        problem,
        v if v.any() else u,
        "spca",
        iterations=int(steps),
        entries=int(np.count_nonzero(v)),
        penalty=share,
    )


def nmf(problem: Problem, options: NMFOptions, seed: int = 0, report: Report = silent) -> Result:
    """Return the best of the truncated parts of a nonnegative factorisation."""
    X = nonnegative_table(_data(problem))
    report(Event("nmf", 0, options.iterations, k=problem.size))
    from sklearn.decomposition import non_negative_factorization as factorise
    from sklearn.utils.extmath import randomized_svd

    total, seed = float(X.multiply(X).sum()) if sp.issparse(X) else float(np.vdot(X, X)), reduce_seed(seed)
    if total == 0.0:
        return truncated(problem, problem.covariance.leading(1)[1], "nmf", iterations=0)
    # With more parts than the rank of X, nndsvda divides 0 by 0.
    sizes = randomized_svd(X, min(options.rank, *X.shape), random_state=seed)[1]
    rank = int(np.count_nonzero(sizes > RANK * sizes[0]))
    W: Any = None
    H: Any = None
    error, done = total, 0
    while done < options.iterations:
        start = {"init": "nndsvda"} if W is None else {"init": "custom", "W": W, "H": H}
        steps = min(SLICE, options.iterations - done)
        W, H, _ = factorise(X, n_components=rank, max_iter=steps, tol=0.0, random_state=seed, **start)
        done += steps
        left = total - 2 * float(np.vdot(X.T @ W, H.T)) + float(np.vdot(W.T @ W, H @ H.T))
        report(
            Event("nmf", done, options.iterations, k=problem.size, payload={"error": max(left, 0.0) / total})
        )
        if error - left <= options.tol * total:
            break
        error = left
    return truncated(problem, H.T, "nmf", rank=rank, iterations=done, error=max(left, 0.0) / total)


def truncated(problem: Problem, loadings: Array, method: str, **info: Any) -> Result:
    """Return the best of the loadings (n, r) after truncation to k entries; `info` is added to the result."""
    candidates = np.column_stack([ascent.starts_from(problem, v) for v in loadings.T])
    x = ascent.best_of(problem, candidates)
    info["renormalised_value"] = problem.value(ascent.on_supports(problem, x[:, None])[:, 0])
    return Result.of(problem, x, Status.HEURISTIC, method, **info)


def reduce_seed(seed: int) -> int:
    """Return a seed below 2**32 for scikit-learn; all other methods take seeds of any size."""
    return operator.index(seed) % 2**32


def check_spca_size(problem: Problem, options: SparsePCAOptions) -> None:
    """Refuse a sparse table that is too large to be made dense for `spca`."""
    A = _data(problem)
    if sp.issparse(A.table):
        _check_dense_copy(A, "spca", problem.n)


def check_nmf_size(problem: Problem, options: NMFOptions) -> None:
    """Refuse a sparse table too large for `nmf`, which makes columns with negative entries dense."""
    A = _data(problem)
    if sp.issparse(A.table):
        _check_dense_copy(A, "nmf", int(np.count_nonzero((_lowest(A) != 0) & (2 * A.rows.counts <= A.m))))


def _data(problem: Problem) -> RowsCovariance:
    """Return the covariance of a problem, which `Method.check` requires to have samples."""
    assert isinstance(problem.covariance, RowsCovariance)
    return problem.covariance


def nonnegative_table(A: RowsCovariance) -> Any:
    """Return the data (m, n) of A with every feature shifted so that its smallest value is 0.

    Without centring only features with negative values are shifted.
    """
    Y = A.table
    if not sp.issparse(Y):
        return Y - np.minimum(Y.min(axis=0), 0.0)
    X, lowest = sp.csr_array(Y.multiply(A.rows.weight)), _lowest(A)
    moved = np.flatnonzero(lowest)
    return with_columns(X, moved, X[:, moved].toarray() - lowest[moved])


def _lowest(A: RowsCovariance) -> Array:
    """Return the offset (n,) that `nonnegative_table` subtracts so that no feature is negative."""
    lowest = A.table.min(axis=0).toarray().ravel() * A.rows.weight
    return lowest if A.center else np.minimum(lowest, 0.0)


def _check_dense_copy(A: RowsCovariance, method: str, columns: int) -> None:
    m, n = A.shape
    if m * columns > DENSE_ENTRIES:
        raise Refused(
            f"{method} needs this sparse table written out, which takes at most {DENSE_ENTRIES:.0e} "
            f"entries, got {m} x {n}; use em"
        )
