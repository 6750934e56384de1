"""The form in which equal data are equal bytes, and the content hash that names data in certificates."""

import hashlib

import numpy as np
import scipy.sparse as sp

from nspca.covariance.linalg import Array

HASHED = 2**16
"""Number of entries of a table that are hashed at a time."""


def canonical(X: sp.spmatrix) -> sp.csr_array:
    """Return X as a `summed` float64 CSR copy with sorted indices: equal data have equal hashes."""
    X = summed(X).astype(np.float64)
    X.sort_indices()
    return X


def summed(X: sp.spmatrix) -> sp.csr_array:
    """Return X as a CSR copy with duplicates summed and zeros removed.

    Duplicates are summed in their own type, as `toarray` does. So the result is equal whether or not the
    caller has summed them.
    """
    X = sp.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def dense_digest(X: Array) -> str:
    """Return the content hash of a dense array; certificates and specs name their data by it."""
    m, n = X.shape
    digest, rows = hashlib.sha256(f"dense {m} {n}".encode()), max(1, HASHED // max(n, 1))
    for start in range(0, m, rows):
        # Adding 0 leaves no negative zero.
        digest.update((np.ascontiguousarray(X[start : start + rows], dtype="<f8") + 0.0).data)
    return digest.hexdigest()


def sparse_digest(X: sp.csr_array) -> str:
    """Return the content hash of a canonical CSR array; certificates and specs name their data by it."""
    m, n = X.shape
    parts = (X.indptr.astype("<i8"), X.indices.astype("<i8"), X.data.astype("<f8"))
    return hashlib.sha256(f"sparse {m} {n}".encode() + b"".join(part.tobytes() for part in parts)).hexdigest()
