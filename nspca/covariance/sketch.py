"""Compute low-rank approximations VV' of A, V (n, d), and the loss of a joint answer found on VV'.

Theorem 2 of Asteris et al. 2015: an answer within 1 - eps of the best for VV' explains at least
``(1 - eps) OPT - 2 r |A - VV'|`` of A, with r components and |.| the spectral norm. V is found in three ways:

`svd`         leading eigenpairs, the best V: ``|A - VV'| = l_{d+1}``.
`randomised`  Rayleigh-Ritz on A^q times a random block; near the best with a few products by A (Halko,
              Martinsson, Tropp 2011).
`frequent`    one pass over the rows of the data with room for 2d of them, for data that do not fit (Liberty
              2013; Ghashami et al. 2016). It gives ``0 <= A - VV' <= bound``. The bound adds up what was
              subtracted on the way, what the rank cuts off, and rounding errors. Columns are centred in the
              same pass: merging b rows of mean u with c rows of mean w adds the row
              ``sqrt(bc/(b+c)) (w - u)`` to the rows minus their own mean. Before that the medians of the
              first block are subtracted from all rows. That does not change the covariance, and makes
              constant columns 0.

The method of Asteris et al. 2015 (`solvers.bipartite`) searches on a sketch by `make`. Other methods take
starting points from `quick`. `NSPCA.partial_fit` adds rows to `FrequentDirections`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nspca.covariance.covariance import DIRECT_LIMIT, Covariance
from nspca.covariance.data import DataCovariance
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, one_thread_if_quick, oriented
from nspca.errors import InvalidData, InvalidOption, InvalidProblem
from nspca.validation.options import whole

OVERSAMPLING = 10
"""Columns of the random block beyond the rank; the literature advises 5 to 10."""
POWERS = 3
"""Products by A before the Rayleigh-Ritz step; each costs one pass over the data."""
BLOCK_ROWS = 512
"""Rows given to frequent directions at a time: few for a quick decomposition, enough to be efficient."""
ERROR_TOLERANCE = 1e-4
"""Relative accuracy of an error found by an iterative eigensolver, which is shown and proves nothing."""
LARGEST_SQUARES = 2.0**900
"""Largest allowed sum of squares of rows in a stream; its inverse is the smallest allowed besides 0."""
TINY = 1e-290
"""Upper bound on the loss by underflow in a sum of products."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """A factor V of a low-rank approximation of A, with its error.

    Attributes
    ----------
    V : (n, d) float64
        ``VV'`` stands for A, in the scale of A.
    error : float
        ``|A - VV'|``, computed to four digits; nan when A itself was never seen whole.
    bound : float
        Upper bound on the error that the method guarantees; inf when it guarantees none.
    """

    V: Array
    error: float
    bound: float = np.inf

    def loss(self, components: int) -> float:
        """Return ``2 r |A - VV'|``, which Theorem 2 subtracts from the value of `components` components.

        The bound replaces an unknown error.
        """
        return 2 * components * (self.bound if np.isnan(self.error) else self.error)


def svd(A: Covariance, rank: int) -> Sketch:
    """Return the sketch of the leading eigenpairs."""
    rank = min(rank, A.n)
    values, vectors = A.leading(min(rank + 1, A.n))
    following = float(values[rank]) if rank < A.n else 0.0
    return Sketch(vectors[:, :rank] * np.sqrt(values[:rank]), following, following)


def randomised(A: Covariance, rank: int, measure: bool = True) -> Sketch:
    """Return the sketch of randomised leading eigenpairs.

    The eigenvalues of VV' are at most those of A, up to rounding, but A - VV' may have negative eigenvalues.
    """
    rank = min(rank, A.n)
    Q = np.random.default_rng(0).standard_normal((A.n, min(A.n, rank + OVERSAMPLING)))
    for _ in range(POWERS):
        image = A.product(Q)
        with one_thread_if_quick(image.size * Q.shape[1]):
            Q = np.linalg.qr(image)[0]
    H = Q.T @ A.product(Q)
    values, Z = np.linalg.eigh((H + H.T) / 2)
    V = oriented(Q @ Z[:, ::-1][:, :rank]) * np.sqrt(np.maximum(values[::-1][:rank], 0.0))
    return Sketch(V, spectral_error(A, V) if measure else np.nan)


def frequent(A: Covariance, rank: int) -> Sketch:
    """Return the frequent-directions sketch of the rows behind A, read once, block by block."""
    check_rows("frequent", A)
    assert isinstance(A, DataCovariance)  # `check_rows` has refused the others
    stream = FrequentDirections(A.n, min(rank, A.n), center=False)
    for start in range(0, A.m, BLOCK_ROWS):
        stream.update(A.dense_rows(slice(start, start + BLOCK_ROWS)))
    found = stream.sketch()
    return Sketch(found.V, spectral_error(A, found.V), found.bound)


def quick(A: Covariance, rank: int) -> Array:
    """Return a factor V for starting points, by the faster of the SVD and the randomised sketch.

    For a part of a matrix, V is that of the whole matrix: the best directions of all features are better
    starts.
    """
    whole = getattr(A, "whole", None)
    if whole is not None:
        return quick(whole[0], rank)[whole[1]]
    small = min(A.n, A.shape[0]) <= DIRECT_LIMIT
    return svd(A, rank).V if small else randomised(A, rank, measure=False).V


SKETCHES = {"svd": svd, "randomised": randomised, "frequent": frequent}


def make(kind: str, A: Covariance, rank: int) -> Sketch:
    """Return the sketch with the name `kind`, a key of `SKETCHES`."""
    check_kind(kind)
    return SKETCHES[kind](A, rank)


def check_kind(kind: str) -> None:
    """Refuse a name that is not in `SKETCHES`."""
    if kind not in SKETCHES:
        raise InvalidOption(f"sketch must be one of {', '.join(SKETCHES)}, got {kind!r}")


def check_rows(kind: str, A: Covariance) -> None:
    """Refuse the `frequent` sketch for a covariance that has no rows."""
    if kind == "frequent" and not isinstance(A, DataCovariance):
        raise InvalidOption(
            "frequent directions need the rows of the data, got a covariance matrix; use the svd or "
            "randomised sketch"
        )


def spectral_error(A: Covariance, V: Array) -> float:
    """Return ``|A - VV'|``, from all eigenvalues for small n and by Lanczos otherwise."""
    if A.n <= DIRECT_LIMIT:
        return float(np.abs(scipy.linalg.eigvalsh(A.matrix - V @ V.T)).max())
    if A.trace == 0.0:
        return float(np.sum(V * V))
    operator = spla.LinearOperator(
        (A.n, A.n), matvec=lambda x: A.product(x) - V @ (V.T @ x), dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(A.n)
    return float(
        np.abs(
            spla.eigsh(operator, k=1, which="LM", v0=start, tol=ERROR_TOLERANCE, return_eigenvectors=False)
        ).max()
    )


class FrequentDirections:
    """Frequent directions of rows that come in blocks, in one pass with room for ``2 rank`` rows.

    Parameters
    ----------
    n : int
        Columns.
    rank : int
        Columns of the sketch.
    center : bool
        Subtract column means, which are unknown before the end.

    Attributes
    ----------
    rows : int
        Number of rows so far.
    mean : (n,)
        Mean of these rows; 0 without centring.
    total : float
        Sum of the squares of the (centred) rows: the number of rows times the trace of A.
    rounding : float
        Bound on the rounding error of the sum of the rows' products so far, in spectral norm.

    origin : (n,)
        Medians of the first block, subtracted from all rows before they are summed.
    squares : float
        Sum of the squares of rows minus `origin`, whose entries have a relative rounding error.
    astray : float
        Bound on the distance between the computed mean of the rows and their exact mean.
    """

    def __init__(self, n: int, rank: int, center: bool = True) -> None:
        whole("rank", rank, 1, n)
        self.n, self.rank, self.center = n, rank, center
        self.rows, self.origin, self.shift = 0, np.zeros(n), np.zeros(n)
        self.kept, self.subtracted, self.total = np.zeros((0, n)), 0.0, 0.0
        self.squares, self.astray, self.rounding = 0.0, 0.0, 0.0

    @property
    def mean(self) -> Array:
        """Return the mean of the rows so far, (n,); 0 without centring."""
        return self.origin + self.shift

    def update(self, block: Any) -> "FrequentDirections":
        """Add rows (b, n), ndarray or scipy.sparse."""
        block = np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)
        if block.ndim != 2 or block.shape[1] != self.n or not np.isfinite(block).all():
            raise InvalidData(
                f"a block must be finite rows of {self.n} columns, got shape {block.shape}; remove or fill "
                "what is missing"
            )
        if not len(block):
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            origin = self.origin if self.rows or not self.center else np.median(block, axis=0)
            block = block - origin
            squares = self.squares + float(np.sum(block * block))
        if not squares < LARGEST_SQUARES or (block.any() and squares < 1 / LARGEST_SQUARES):
            raise InvalidProblem(
                "the squares of rows that come one after another must add up to about 1e-270 to 1e270, got "
                f"{squares:.3g}; multiply the data by a constant first"
            )
        self.origin, self.squares, count = origin, squares, len(block)
        block = self._centred(block) if self.center else block
        self.rows += count
        self.total += float(np.sum(block * block))
        self._shrink(np.vstack((self.kept, block)))
        return self

    def _centred(self, block: Array) -> Array:
        """Return the block minus its mean, and the row that merges the block with the rows before."""
        mean, b, c = block.mean(axis=0), len(block), self.rows
        apart, weight, share = self.shift - mean, b * c / (b + c), b / (b + c)
        far = float(np.linalg.norm(apart))
        # Error of sums of b terms, doubled to include the rounding of this bound itself.
        astray = 2 * (b + 1) * UNIT_ROUNDOFF * float(np.linalg.norm(block)) / np.sqrt(b)
        both = astray + self.astray
        self.rounding += b * astray**2 + weight * (2 * far + both) * both
        self.shift = self.shift - apart * share
        self.astray = (1 - share) * self.astray + share * astray
        self.astray += 2 * UNIT_ROUNDOFF * (float(np.linalg.norm(self.shift)) + 4 * share * far)
        return np.vstack((block - mean, np.sqrt(weight) * apart))

    def _shrink(self, rows: Array) -> None:
        """Reduce rows to ``2 rank`` directions; the weight of the next one is taken off all, and recorded."""
        weights, parts = _directions(rows)
        self.rounding += _rounding_bound(rows)
        room = 2 * self.rank
        lost = float(weights[room]) if weights.size > room else 0.0
        weights, parts = weights[:room], parts[:room]
        left = np.sqrt(np.maximum(weights - lost, 0.0) / np.where(weights > 0, weights, 1.0))
        self.kept = left[:, None] * parts
        self.subtracted = float(np.nextafter(self.subtracted + lost, np.inf)) if lost else self.subtracted

    def sketch(self) -> Sketch:
        """Return the sketch of ``A = (centred rows)'(centred rows) / (number of rows)``, in the scale of the
        rows.
        """
        if self.rows == 0:
            raise InvalidData("a sketch needs at least one row, got none; update it with the data first")
        weights, parts = _directions(self.kept)
        V = parts[: self.rank].T / np.sqrt(self.rows)
        cut = float(weights[self.rank]) if weights.size > self.rank else 0.0
        V = np.pad(V, ((0, 0), (0, self.rank - V.shape[1])))
        rounding = self.rounding + _rounding_bound(self.kept)
        if self.center:  # rows are Z + E: |Z|^2 is `total`, and |E|^2 is at most u^2 times `squares`
            lost = 2 * UNIT_ROUNDOFF * np.sqrt(self.squares)
            rounding += float(lost * (2 * np.sqrt(self.total) + lost))
        return Sketch(oriented(V), np.nan, (self.subtracted + cut + rounding) / self.rows)


def _directions(rows: Array) -> tuple[Array, Array]:
    """Return squared singular values, decreasing, and right singular vectors times singular values, as rows.

    Both come from the smaller Gram matrix: its rounding is relative to the largest weight, like that of A.
    """
    b, n = rows.shape
    weights, vectors = np.linalg.eigh(rows @ rows.T if b <= n else rows.T @ rows)
    weights, vectors = np.maximum(weights[::-1], 0.0), vectors[:, ::-1]
    return weights, vectors.T @ rows if b <= n else np.sqrt(weights)[:, None] * vectors.T


def _rounding_bound(rows: Array) -> float:
    """Bound the rounding error of `_directions` of R (q, n), and of products of it, in spectral norm.

    A product of s terms errs by at most ``s u`` times the Frobenius norms. The Gram matrix has sums of
    max(q, n) terms, the eigensolver errs by a few times s = min(q, n), and s vectors of length one, of norm
    ``sqrt(s)``, are multiplied by R in sums of s; some roundings of R itself come before. The factor 2 covers
    terms of second order.
    """
    s, terms = min(rows.shape), max(rows.shape)
    roundings = 2 * (terms + 4 * s**1.5 + 8)
    return roundings * UNIT_ROUNDOFF * float(np.sum(rows * rows)) + TINY * bool(rows.any())
