"""Sizes of data sources: rows, columns and nonzeros, from headers where the format has them.

Cost estimates call `read_size`. Only headers and the beginnings of texts are read.
"""

from pathlib import Path
from typing import Any

import scipy.sparse as sp

from nspca.data import limits
from nspca.data.containers import open_reader
from nspca.data.formats import Size, Source
from nspca.errors import InvalidOption
from nspca.problem import Problem
from nspca.shards import Shards
from nspca.validation.features import features_of

COORDINATES, TABLE = 12, 8
"""Bytes of an entry of a sparse matrix in memory, and of a dense one."""


def read_size(source: Any) -> Size:
    """Return the size of a `Problem`, a table, a folder of shards or a file.

    Raises
    ------
    InvalidOption
        For anything else.
    InvalidData
        For a file whose header makes no sense.
    """
    if isinstance(source, Problem):
        return _of_problem(source)
    if not isinstance(source, str | Path):
        return _of_table(source)
    path = Path(source)
    if path.is_dir():
        return _of_table(Shards(path))
    size = open_reader(Source(path)).probe()
    if size.sparse:
        limits.check_filled(size.rows, size.columns, size.entries, str(path))
    return size


def _of_table(source: Any) -> Size:
    """Return the size of a table in memory, or of an opened folder of shards."""
    if isinstance(source, Shards):
        return Size(*source.shape, source.nonzeros, sparse=True, at="shards")
    X = features_of(source, covariance=True)[0]
    if len(getattr(X, "shape", ())) != 2:
        raise InvalidOption(
            "a problem, a table, or the path of a file or a folder of shards is required, got "
            f"{type(source).__name__}"
        )
    m, n = X.shape
    return Size(m, n, X.nnz if sp.issparse(X) else m * n, sparse=sp.issparse(X), at="memory")


def _of_problem(problem: Problem) -> Size:
    """Return the size of the data behind a problem."""
    A, (m, n) = problem.covariance, problem.covariance.shape
    is_sparse = A.source == "data" and A.Z is None
    return Size(m, n, A.nonzeros, sparse=is_sparse, at="shards" if A.on_disk else "memory")
