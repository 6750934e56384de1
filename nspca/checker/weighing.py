"""Weights of samples, and the rows of a table that have a positive one.

With weights w, A is defined by rows d_i y_i, where d is the float64 vector ``sqrt(w / mean(w))`` of the rows
of positive weight, and by the projection that takes off d: ``A_ij = z_i'z_j / m``, where z is the column of
these rows minus its part along d. That is ``sum w (x - mean)(x - mean)' / sum w`` for the weights d_i^2.
"""

import hashlib
import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy import ndarray as Array

from nspca.checker.blocks import Dense, Sparse
from nspca.checker.numbers import floats, numbers_of
from nspca.checker.refusal import require


def weighted(table: Any, given: Any, wanted: str) -> tuple[Any, Array | None]:
    """Return the rows of positive weight of a table in memory, and their d (m,), None for equal weights.

    Weights whose content hash is not the `wanted` one of the certificate are refused.
    """
    if given is None:
        require(not wanted, "the certificate is about samples with weights: give them as sample_weight")
        return table, None
    w = floats(numbers_of(given))
    right = w.shape == (int(table.shape[0]),) and bool(np.isfinite(w).all() and (w >= 0).all() and w.any())
    require(right, "sample_weight must be a finite number of at least 0 for each sample, not all of them 0")
    held = isinstance(table, Sparse) or (isinstance(table, Dense) and isinstance(table.X, Array))
    require(held, "samples with weights must be a table in memory")
    kept, w = w > 0, w[w > 0]
    equal = (w == w[0]).all()
    digest = "" if equal else hashlib.sha256(b"weights" + w.astype("<f8").tobytes()).hexdigest()
    require(digest == wanted, "the weights are not the weights of the certificate: the digests differ")
    if isinstance(table, Sparse):
        X = sp.csr_array((table.values, table.indices, table.starts), shape=table.shape)
        table = table if kept.all() else Sparse(X[kept])
    else:
        table = table if kept.all() else Dense(table.X[kept])
    if equal:
        return table, None
    w = w / w.max()
    require(w.min() >= 1e-31, "weights that differ by a factor beyond 1e30 may underflow")
    return table, np.sqrt(w * (len(w) / math.fsum(w)))
