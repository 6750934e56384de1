"""Covariance of data that stay on disk: A = Z'Z / m, with a pass over blocks of rows for each request.

A *table* has a `shape`, a `digest`, its `largest` value, and `blocks()`, which yields its rows in order as
CSR blocks. One block is in memory at a time, so memory does not grow with the rows; `passes` counts how often
all were read. Z is that of `nspca.covariance.inputs`: in unit scale, implicitly centred, with columns that
are more than half full made dense block by block. Products are fused: Z'(ZX) takes one pass, not two.

A on few features is stored once it was computed (`nspca.covariance.parts`). `nspca.problem.Problem` calls
`of_table` for a folder of shards.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance import distributed
from nspca.covariance.covariance import DENSE_LIMIT, Covariance
from nspca.covariance.data import WHOLE_LIMIT, SparseCovariance, sparse_gram
from nspca.covariance.linalg import Array, Indices
from nspca.covariance.parts import Parts, pieces
from nspca.covariance.passes import Rows, Table
from nspca.covariance.tree import Part, added, gathered
from nspca.errors import InvalidProblem, Refused

DENSE_SHARE = 1 / 16
"""Columns with more nonzeros than this share of the rows are multiplied as dense ones."""
WHOLE, WHOLE_OF_DENSE = DENSE_LIMIT, WHOLE_LIMIT
"""Largest number of features for which A is formed whole, and that number for tables that are at least half
full and have at least as many rows.
"""


class ShardedCovariance(Parts):
    """Covariance of a table in row blocks."""

    dense_share = DENSE_SHARE

    def __init__(
        self, table: Table, center: bool, scale: bool, names: Sequence[str] | None = None, client: Any = None
    ) -> None:
        self._rows = Rows(table, center, scale, names, client)
        super().__init__(
            n=self.rows.n,
            shape=table.shape,
            source="data",
            center=center,
            scale=scale,
            digest=table.digest,
            exponent=0 if scale else 2 * self.rows.exponent,
        )
        self.client = client

    @property
    def rows(self) -> Rows:
        """Return the data, in passes over their blocks of rows."""
        return self._rows

    @property
    def passes(self) -> int:
        """Return how often all rows were read."""
        return self.rows.passes

    # --- products -------------------------------------------------------------------------------------------

    @property
    def small(self) -> bool:
        """Tell whether A is formed whole, so that methods for data in memory work on it."""
        is_full = 2 * int(self.rows.counts.sum()) >= self.rows.m * self.n
        return self.n <= (WHOLE_OF_DENSE if is_full and self.rows.m >= self.n else WHOLE)

    @property
    def most_formed(self) -> int:
        """Return the largest n for which the whole of A is formed."""
        return max(DENSE_LIMIT, self.n * self.small)

    def product(self, X: Array) -> Array:
        """Return ``A @ X``, in at most one pass."""
        if self.small:
            return self.matrix @ X
        Y = (X.T * self.rows.weight).T
        total, sums = self.rows.folded(added, _fused, Y, self.rows.mean @ Y)
        return ((total - np.multiply.outer(self.rows.mean, sums)).T * self.rows.weight).T / self.rows.m

    def columns(self, features: Indices | Sequence[int]) -> Array:
        """Return ``A[:, features]``, in at most one pass."""
        if self.small:
            return self.matrix[:, features]
        features = np.asarray(features, dtype=np.int64)
        (total,) = self.rows.folded(added, _with_all, features)
        return self._centred(total, np.arange(self.n), features)

    def block(self, features: Indices) -> Array:
        """Return ``A[features][:, features]``, from a stored block or else in one pass."""
        if self.small:
            return self.matrix[np.ix_(features, features)]
        return super().block(features)

    @property
    def is_factorised(self) -> bool:
        """Return whether leading eigenpairs come from a factorisation of A, which must be in memory."""
        return self.small and super().is_factorised

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return leading eigenpairs, each step in one pass."""
        return super()._eigenpairs(d) if self.small else self.by_subspaces(d)

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,), known since the first passes."""
        return self.rows.variances

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Return which features (n,) are not 0; where A is centred, those that do not hold one value."""
        return self.rows.varies

    def quadratic(self, x: Array) -> float:
        """Return ``x'Ax``, in at most one pass."""
        support = np.flatnonzero(x)
        if self.small or support.size <= DENSE_LIMIT:
            return float(x[support] @ self.block(support) @ x[support])
        scores = self.scores(x)
        return float(scores @ scores) / self.rows.m

    def scores(self, X: Array) -> Array:
        """Return ``Z @ X``, the samples along components X (n, r), in unit scale."""
        Y = (X.T * self.rows.weight).T
        return np.concatenate(self.rows.folded(gathered, _along, Y, self.rows.mean @ Y))

    def restrict(self, features: Indices) -> Covariance:
        """Return some features in memory: A on them where A is formed whole, otherwise their data.

        Reading the data takes one pass, and A on the features takes another unless it is stored.
        """
        features = np.asarray(features, dtype=np.int64)
        if self.small:
            return self.on(features)
        X = sp.csr_array(sp.vstack(self.rows.folded(gathered, _selected, features), format="csr"))
        parts = self.rows.mean[features], self.rows.weight[features], self.rows.varies[features]
        part = SparseCovariance(X, *parts, **self._part_recipe(features))
        if features.size <= DENSE_LIMIT:  # A is small, but dense rows might not fit into memory
            part.matrix = self.block(features)
        return part

    def gram(self) -> Array:
        """Return ``ZZ' / m`` (m, m) for few rows; `bounds.inequality` proves a bound with it."""
        if self.rows.m > DENSE_LIMIT:
            raise Refused(
                f"ZZ' is formed for at most {DENSE_LIMIT} rows, got {self.rows.m}; use the features"
            )
        held = self.rows.folded(gathered, _selected, slice(None))
        X = sp.csr_array(sp.vstack(held, format="csr"))
        return sparse_gram(X, self.rows.mean, self.rows.weight)


def _fused(Y: Any, X: Array, fixed: Array) -> Part:
    """Return ``Y'S`` and the sums of the columns of S, ``S = YX - fixed``, for a block Y of rows."""
    S = Y @ X - fixed
    return Y.T @ S, np.asarray(S.sum(axis=0))


def _with_all(Y: Any, features: Indices) -> Part:
    """Return ``Y'Y_J`` (n, p) for some columns J of a block Y of rows."""
    total = np.zeros((Y.shape[1], features.size))
    for start, D in pieces(Y[:, features], features.size):
        total += Y[start : start + len(D)].T @ D
    return (total,)


def _along(Y: Any, X: Array, fixed: Array) -> Part:
    """Return the rows of a block along components: ``YX - fixed``."""
    return (Y @ X - fixed,)


def _selected(Y: Any, features: Any) -> Part:
    """Return some columns of a block, sparse."""
    return (sp.csr_array(Y[:, features]),)


def of_table(table: Table, center: bool, scale: bool, client: Any = None) -> ShardedCovariance:
    """Return the covariance of a table of row blocks, read here or by the workers of a Dask client.

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
    distributed.check_client(client)
    if client is not None and not (hasattr(table, "block") and hasattr(table, "__len__")):
        raise InvalidProblem(
            f"workers read a folder of shards, got {type(table).__name__}, whose blocks have no numbers; "
            "leave the client out"
        )
    names = getattr(table, "feature_names", None) if scale else None
    return ShardedCovariance(table, center, scale, names, client)
