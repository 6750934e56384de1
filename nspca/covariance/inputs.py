"""Turn user input into a `Covariance`: a matrix, a table in memory or one on disk, checked first.

`nspca.problem.Problem` calls `from_matrix`, `from_data` and `from_blocks`.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.covariance.covariance import MatrixCovariance
from nspca.covariance.data import RowsCovariance, of_table
from nspca.covariance.linalg import (
    UNIT_ROUNDOFF,
    binary_exponent,
    is_positive_definite,
    largest_eigenpairs,
    scaled,
)
from nspca.covariance.numbers import dense_digest, sparse_digest, sparse_table
from nspca.covariance.numbers import table as dense_table
from nspca.covariance.parallel import check_client
from nspca.covariance.tables import DenseFile, Held, is_long
from nspca.covariance.weighing import Weights
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
        A = dense_table(A, "a covariance")
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
    smallest = -float(largest_eigenpairs(-A, 1)[0][0])
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


def from_data(
    X: Any, center: bool, scale: bool, names: Any = None, sample_weight: Any = None
) -> RowsCovariance:
    """Return the covariance of data X (m, n), dense or sparse, in memory or a long table in a file.

    Columns are centred, and divided by their population standard deviations, if asked. Columns that hold one
    value are 0 once they are centred. The unit scale is then that of the other columns, so that a large
    constant cannot hide small features. Means of sparse columns are subtracted implicitly, those of columns
    more than half full explicitly, so no digits are lost at any offset.
    """
    if is_long(X):
        if sample_weight is not None:
            raise InvalidProblem(
                "samples with weights are held in memory, got a table that stays in its file; give X[:]"
            )
        return of_table(DenseFile(X), center, scale, names)
    X = sparse_table(X, "data") if sp.issparse(X) else dense_table(X, "data")
    if sample_weight is None:
        return of_table(Held(X), center, scale, names)
    weights = Weights(sample_weight, X.shape[0])
    return of_table(Held(weights.rows_of(X)), center, scale, names, weights=weights)


def from_blocks(table: Any, center: bool, scale: bool, client: Any = None) -> RowsCovariance:
    """Return the covariance of a table on disk, read here or by the workers of a Dask client.

    Raises
    ------
    InvalidProblem
        For something that is no such table, or none that workers can open.
    """
    if not hasattr(type(table), "blocks"):
        raise InvalidProblem(
            f"a folder of shards is required, got {type(table).__name__}; make one with "
            "`python -m nspca shard`"
        )
    check_client(client)
    if client is not None and not (hasattr(table, "block") and hasattr(table, "__len__")):
        raise InvalidProblem(
            f"workers read a folder of shards, got {type(table).__name__}, whose blocks have no numbers; "
            "leave the client out"
        )
    names = getattr(table, "feature_names", None) if scale else None
    return of_table(table, center, scale, names, client)
