"""Turn user input into a `Covariance`: a matrix or data are checked, scaled, centred and hashed.

`nspca.problem.Problem` calls `from_matrix`, `from_dense` and `from_sparse`.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance.covariance import MatrixCovariance
from nspca.covariance.data import DataCovariance, SparseCovariance
from nspca.covariance.digests import dense_digest, sparse_digest
from nspca.covariance.large import sparse
from nspca.covariance.linalg import (
    UNIT_ROUNDOFF,
    Array,
    binary_exponent,
    is_positive_definite,
    largest_eigenvalue,
    scaled,
)
from nspca.covariance.moments import centred, column_exponents, constant, counts, crowded, deviations, squares
from nspca.covariance.numbers import sparse_table, table
from nspca.errors import InvalidProblem, Refused

SPARSE_SIDE = 20_000
"""Largest n of a covariance given as a sparse matrix: 3.2 GB once it is written out."""
SHIFT = "shift"
"""Repair of a matrix that is nearly semidefinite: add a multiple of the identity, and subtract its effect."""
SINGLE = 2.0**-22
"""Maximum negative part that a repair takes for rounding, per feature and in units of the largest entry.

Rounding n x n entries to single precision changes eigenvalues by at most n 2**-24 times the largest entry.
The factor 4 leaves room for matrices that were computed in single precision.
"""
ROUNDED = 9
"""The `nu` of a covariance, in units of (n + 8) u tr A.

The checker uses 8 of these units, a little rounded up, so bounds that add 9 are large enough for it.
"""


def from_matrix(A: Any, repair: str | None = None) -> MatrixCovariance:
    """Return the covariance given as a symmetric positive semidefinite matrix, which is checked to be one.

    With `repair` "shift", a matrix with eigenvalues below 0 by no more than rounding to single precision gets
    a multiple of the identity added. Values and bounds are stated for the matrix as given.

    Semidefinite means up to `nu`, the size of rounding errors from forming a covariance. Bounds that need
    semidefiniteness add that much. A matrix that is further off is refused, because the checker would refuse
    its certificates.
    """
    if sp.issparse(A):
        A = sparse_table(A, "a covariance")
        if max(A.shape) > SPARSE_SIDE:
            raise Refused(
                f"a covariance is held as n x n numbers, at most n = {SPARSE_SIDE} from a sparse one, got "
                f"{A.shape[1]}; use from_data"
            )
        digest, A = sparse_digest(A), A.toarray()
    else:
        A = table(A, "a covariance")
        digest = dense_digest(A)
    if A.shape[0] != A.shape[1]:
        raise InvalidProblem(
            f"a covariance must be square, got {A.shape[0]} x {A.shape[1]}; for samples x features use "
            "from_data"
        )
    exponent = binary_exponent(A)
    A = scaled(A, -exponent)
    difference = np.abs(A - A.T)
    if difference.max() > 1e-8:
        i, j = np.unravel_index(np.argmax(difference), A.shape)
        raise InvalidProblem(
            f"a covariance must be symmetric, got a difference at row {i + 1}, column {j + 1}; use (A + A') "
            "/ 2"
        )
    A = (A + A.T) / 2
    nu = (ROUNDED * (len(A) + 8) * UNIT_ROUNDOFF * float(np.abs(np.diag(A)).sum()) + 1e-280) * A.any()
    recipe: dict[str, Any] = {"center": False, "scale": False, "digest": digest, "exponent": exponent}
    recipe |= {"shape": A.shape, "source": "covariance"}
    # Only half of nu is used: the checker computes in another order and may need the other half.
    if is_positive_definite(A + (nu / 2 + (nu == 0)) * np.eye(len(A))):
        return MatrixCovariance(A, nu=nu, **recipe)
    smallest = -largest_eigenvalue(-A)
    missing = max(-smallest, 0.0) * 1.1 + nu
    is_slight = missing <= len(A) * SINGLE
    if repair != SHIFT or not is_slight:
        raise InvalidProblem(_indefinite(len(A), smallest, missing, exponent, is_slight))
    shift = float(np.ldexp(1.0, np.frexp(missing)[1]))  # a power of two, which few diagonals round
    B = A + shift * np.eye(len(A))
    return MatrixCovariance(B, nu=nu, shift=shift, added=np.diag(B) - np.diag(A), **recipe)


def _indefinite(n: int, smallest: float, missing: float, exponent: Any, is_slight: bool) -> str:
    """Return the error for a matrix with a negative eigenvalue, in the units of the data.

    `missing` is what the diagonal lacks, at unit scale. `is_slight` tells whether a repair is possible.
    """
    unit = float(np.ldexp(1.0, int(exponent)))
    way_out = (
        f'take repair="{SHIFT}", which accepts rounding to single precision and states values and bounds for '
        "the matrix as given"
        if is_slight
        else f"give the data instead, or A + {missing * unit:.2g} * np.eye({n}), which adds that to every "
        "value"
    )
    return (
        "a covariance must be positive semidefinite up to the rounding of its entries, got a smallest "
        f"eigenvalue of {smallest * unit:.4g}; {way_out}"
    )


def from_dense(X: Array, center: bool, scale: bool, names: Any = None) -> DataCovariance:
    """Return the covariance of data X (m, n), centred and divided by population standard deviations if asked.

    Columns that hold one value are 0 once they are centred. The unit scale is then that of the other columns,
    so that a large constant cannot hide small features.
    """
    X = table(X, "data")
    require_two_rows(X.shape[0], center or scale)
    digest = dense_digest(X)
    high, low = X.max(axis=0), X.min(axis=0)
    largest, varies = np.maximum(high, -low), high != low if center else (high != 0) | (low != 0)
    if center and not scale and not varies.all():
        X, largest = np.where(varies, X, 0.0), np.where(varies, largest, 0.0)
    exponent = np.asarray(np.frexp(largest if scale else largest.max())[1], dtype=np.int64)
    Z = scaled(X, -exponent)
    if center or scale:
        if scale:
            refuse_constant(constant(Z), names)
            C = centred(Z, out=Z if center else None)
            Z = (C if center else Z) / deviations(C)
        else:
            Z = centred(Z, out=Z)  # in place: a table from disk may take half of the memory
    recipe: dict[str, Any] = {"center": center, "scale": scale, "digest": digest}
    recipe["exponent"] = 0 if scale else 2 * int(exponent)
    return DataCovariance(Z, varies=varies, shape=X.shape, source="data", **recipe)


def from_sparse(X: sp.spmatrix, center: bool, scale: bool, names: Any = None) -> SparseCovariance:
    """Return the covariance of sparse data (m, n), never made dense; parameters as for `from_dense`.

    Columns that are more than half full are centred and scaled as dense ones, so no digits are lost at any
    offset. The others, whose means are below their deviations, are centred implicitly.
    """
    X = sparse_table(X, "data")
    m, n = X.shape
    require_two_rows(m, center or scale)
    digest = sparse_digest(X)
    full = crowded(X) if center or scale else np.zeros(0, dtype=np.int64)
    D = X[:, full].toarray()
    if center and not scale:
        D, X = _without_constants(D, X, full)
    varies = counts(X) > 0
    exponent = column_exponents(X) if scale else np.full(n, binary_exponent(X.data))
    X.data = scaled(X.data, -exponent[X.indices])
    mean, weight = np.zeros(n), np.ones(n)
    if center or scale:
        D = scaled(D, -exponent[full])
        C = centred(D)
        mean = np.bincount(X.indices, weights=X.data, minlength=n) / m
        if scale:
            still = ~varies
            still[full] = constant(D)
            refuse_constant(still, names)
            deviation = np.sqrt(squares(X, mean) / m)
            deviation[full] = deviations(C)
            weight = 1 / deviation
        if center:
            X = with_columns(X, full, C)
            mean[full] = 0.0
        else:
            mean = np.zeros(n)
    recipe: dict[str, Any] = {
        "shape": (m, n),
        "source": "data",
        "center": center,
        "scale": scale,
        "digest": digest,
    }
    recipe["exponent"] = 0 if scale else 2 * int(exponent[0])
    return sparse(X, mean, weight, varies=varies, **recipe)


def _without_constants(D: Array, X: Any, full: NDArray[np.int64]) -> tuple[Array, Any]:
    """Return the dense columns D (m, f) at `full`, and sparse X, with columns of one value set to 0."""
    still = D.max(axis=0, initial=-np.inf) == D.min(axis=0, initial=np.inf)
    if not still.any():
        return D, X
    X.data[np.isin(X.indices, full[still])] = 0.0
    X.eliminate_zeros()
    return np.where(still, 0.0, D), X


def with_columns(X: Any, which: NDArray[np.int64], C: Any) -> Any:
    """Return sparse X (m, n) with the columns `which` replaced by the columns of the dense C."""
    if which.size == 0:
        return X
    rest = np.setdiff1d(np.arange(X.shape[1]), which)
    order = np.argsort(np.concatenate((rest, which)))
    return sp.csr_array(sp.hstack((X[:, rest], sp.csr_array(C)), format="csc")[:, order])


def require_two_rows(m: int, is_centred_or_scaled: bool) -> None:
    """Refuse data of fewer than 2 rows when they are to be centred or scaled."""
    if is_centred_or_scaled and m < 2:
        raise InvalidProblem(
            f"centring or scaling needs at least 2 rows (samples), got {m}; is the table the other way round?"
        )


def refuse_constant(constant: NDArray[np.bool_], names: Any) -> None:
    """Refuse to scale when any column is `constant` (n,); the error lists columns by `names` or by number."""
    found = np.flatnonzero(constant)
    if found.size:
        shown = ", ".join(str(names[j]) if names is not None else str(j + 1) for j in found[:5])
        more = f" and {found.size - 5} more" if found.size > 5 else ""
        raise InvalidProblem(
            f"scaling needs columns that vary, got constant columns {shown}{more}; drop them or turn "
            "scaling off"
        )
