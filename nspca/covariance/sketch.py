"""Compute low-rank approximations VV' of A, V (n, d), and the loss of a joint answer found on VV'.

Theorem 2 of Asteris et al. 2015: an answer within 1 - eps of the best for VV' explains at least
``(1 - eps) OPT - 2 r |A - VV'|`` of A, with r components and |.| the spectral norm. V is found in two ways:

`svd`         leading eigenpairs, the best V: ``|A - VV'| = l_{d+1}``.
`randomised`  Rayleigh-Ritz on A^q times a random block; near the best with a few products by A (Halko,
              Martinsson, Tropp 2011).

The method of Asteris et al. 2015 (`solvers.bipartite`) searches on a sketch by `make`. Other methods take
starting points from `quick`.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as spla

from nspca.covariance.covariance import DIRECT_LIMIT, Covariance
from nspca.covariance.linalg import Array, one_thread_if_quick, oriented
from nspca.errors import InvalidOption

OVERSAMPLING = 10
"""Columns of the random block beyond the rank; the literature advises 5 to 10."""
POWERS = 3
"""Products by A before the Rayleigh-Ritz step; each costs one pass over the data."""
ERROR_TOLERANCE = 1e-4
"""Relative accuracy of an error found by an iterative eigensolver, which is shown and proves nothing."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """A factor V of a low-rank approximation of A, with its error.

    Attributes
    ----------
    V : (n, d) float64
        ``VV'`` stands for A, in the scale of A.
    error : float
        ``|A - VV'|``, computed to four digits; nan where it was not measured.
    """

    V: Array
    error: float

    def loss(self, components: int) -> float:
        """Return ``2 r |A - VV'|``, which Theorem 2 subtracts from the value of `components` components."""
        return 2 * components * self.error


def svd(A: Covariance, rank: int) -> Sketch:
    """Return the sketch of the leading eigenpairs."""
    rank = min(rank, A.n)
    values, vectors = A.leading(min(rank + 1, A.n))
    following = float(values[rank]) if rank < A.n else 0.0
    return Sketch(vectors[:, :rank] * np.sqrt(values[:rank]), following)


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


SKETCHES = {"svd": svd, "randomised": randomised}


def make(kind: str, A: Covariance, rank: int) -> Sketch:
    """Return the sketch with the name `kind`, a key of `SKETCHES`."""
    if kind not in SKETCHES:
        raise InvalidOption(f"sketch must be one of {', '.join(SKETCHES)}, got {kind!r}")
    return SKETCHES[kind](A, rank)


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
