"""Small array kernels shared by the whole package: powers of two, sums of the k largest, eigenvalues."""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import OpenBLASController, ThreadpoolController

Array = NDArray[np.float64]
"""Array of float64, the usual type of numbers in this package."""
Indices: TypeAlias = NDArray[np.integer[Any]]
"""Numbers of some features, from 0."""
UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error of one rounding in float64."""
QUICK = 2e10
"""Number of multiplications that one thread does in a second or two."""
FINITE = 1000
"""Largest exponent for which powers of two are neither zero nor infinite."""
SORTED = 256
"""Maximum entries of a line that is sorted to find its largest ones. Longer lines are partitioned."""


def one_thread_if_quick(multiplications: float) -> AbstractContextManager[Any]:
    """Return a context that limits BLAS to one thread for quick work, so that results are reproducible.

    The last bits of a sum depend on the number of threads, and a bound found in hundreds of steps depends on
    those bits. Covariances form A and find eigenpairs in it, and sketches factorise in it.
    """
    return one_thread() if multiplications <= QUICK else nullcontext()


_lock, _inside = Lock(), 0
_limited: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the context, until the last of several concurrent threads has left.

    The limit is one number of the whole process. So everything in this package that limits BLAS does it here.
    A pass enters the context for every block of rows.
    """
    global _limited, _inside
    with _lock:
        if not _inside:
            _take_control()
            _limited = _threads().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _take_control()
                _limited.restore_original_limits()
                _take_control()


def _take_control() -> None:
    """Let any thread change the number of threads of OpenBLAS.

    Since version 3.8 threadpoolctl ignores what any thread asks for but the first one that asked, while that
    one lives. But who enters `one_thread` first need not be who leaves last.
    """
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@cache
def _threads() -> ThreadpoolController:
    """Return the controller of the loaded BLAS libraries, found once since that takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


def binary_exponent(X: Array, axis: int | None = None) -> NDArray[np.int64]:
    """Return the exponent e with ``max|X| * 2**-e`` in [0.5, 1); 0 where everything is zero."""
    # Two searches for extremes take half the time of |X|, which would need a copy of X.
    largest, smallest = np.max(X, axis=axis, initial=0.0), np.min(X, axis=axis, initial=0.0)
    return np.asarray(np.frexp(np.maximum(largest, -smallest))[1], dtype=np.int64)


def scaled(X: Array, exponent: int | NDArray[np.int64]) -> Array:
    """Return ``X * 2**exponent``, bit for bit as `np.ldexp` does, which takes seven times as long."""
    if np.abs(exponent).max(initial=0) <= FINITE:
        return X * np.ldexp(1.0, exponent)
    return np.ldexp(X, exponent)


def topk_sum(v: Array, k: int, fixed: int = 0) -> Array:
    """Return the sum of the k largest entries along the last axis, with negative entries counted as 0.

    The first `fixed` entries are always among the k.
    """
    v = np.maximum(v, 0.0)
    if fixed:
        return v[..., :fixed].sum(axis=-1) + topk_sum(v[..., fixed:], k - fixed)
    return largest_entries(v, k).sum(axis=-1)


def largest_entries(v: Array, k: int) -> Array:
    """Return the k largest entries along the last axis of `v`, the smallest of them first; `v` is changed.

    On more than 256 entries of which most equal the smallest, such as positive parts, `numpy.partition` at
    one place may take twenty times as long as at two places next to each other. So it is asked for both.
    """
    n = v.shape[-1]
    k = max(0, min(k, n))
    if n <= SORTED or k >= n:
        v.sort(axis=-1)
    elif k:
        v.partition((n - k - 1, n - k), axis=-1)
    return v[..., n - k :]


def topk_indices(v: Array, k: int) -> NDArray[np.int64]:
    """Return the indices of the k largest entries of ``v`` (n,), increasing; the lowest ones of ties."""
    n = v.shape[0]
    if k >= n or k == 0:
        return np.arange(min(k, n))
    ranked = v.copy()
    ranked.partition(n - k)
    threshold = ranked[n - k]
    keep = v >= threshold
    if np.count_nonzero(keep) > k:
        keep = v > threshold
        keep[(v == threshold).nonzero()[0][: k - np.count_nonzero(keep)]] = True
    return keep.nonzero()[0]


def topk_mask(v: Array, k: int, fixed: int = 0) -> NDArray[np.bool_]:
    """Return a mask (c, n) of the entries that `topk_indices` finds in each row of ``v`` (c, n).

    The first `fixed` entries are always among the k.
    """
    n = v.shape[1]
    if fixed:
        return np.hstack((np.ones((len(v), fixed), dtype=bool), topk_mask(v[:, fixed:], k - fixed)))
    if k >= n or k == 0:
        return np.full(v.shape, k > 0)
    threshold = largest_entries(v.copy(), k)[:, :1]
    keep = v >= threshold
    crowded = np.flatnonzero(keep.sum(axis=1) > k)
    if crowded.size:
        level, above = v[crowded] == threshold[crowded], v[crowded] > threshold[crowded]
        room = k - above.sum(axis=1, keepdims=True)
        keep[crowded] = above | (level & (np.cumsum(level, axis=1) <= room))
    return keep


def rank1(a: Array, k: int, nonneg: bool = True, forced: Sequence[int] = ()) -> Array:
    """Return the best k-sparse unit vector for the rank-1 matrix ``aa'``, for one sign of ``a``.

    Keeps the k largest positive entries of `a` (Prop. 3.1 of Asteris et al. 2014; signed: the k largest in
    absolute value): by Cauchy-Schwarz no other support can carry more of `a`.

    Parameters
    ----------
    a : (n,) float64
    k : int, 1 <= k <= n
    nonneg : bool
        The nonnegative problem needs both `a` and `-a` to be tried.
    forced : sequence of int
        Entries that are always among the k.

    Returns
    -------
    x : (n,) float64, ``|x| = 1``; all zero when there is no entry to keep
    """
    weight = np.maximum(a, 0.0) if nonneg else np.abs(a)
    keep = topk_indices(_put_forced_first(weight, forced), k)
    x = np.zeros_like(a)
    x[keep] = weight[keep] if nonneg else a[keep]
    return normalised(x)


def rank1_columns(C: Array, k: int, nonneg: bool = True, forced: Sequence[int] = ()) -> Array:
    """Return `rank1` of every column of ``C`` (n, r) at once; columns without an entry to keep are zero."""
    weight = np.maximum(C, 0.0) if nonneg else np.abs(C)
    weight = np.where(topk_mask(_put_forced_first(weight, forced).T, k).T, weight, 0.0)
    return normalised_columns(weight if nonneg else np.copysign(weight, C))


def _put_forced_first(weight: Array, forced: Sequence[int]) -> Array:
    """Return the weights by which entries are chosen, infinite for forced entries."""
    if not forced:
        return weight
    ranked = weight.copy()
    ranked[list(forced)] = np.inf
    return ranked


def normalised(x: Array) -> Array:
    """Return ``x / |x|``, or 0 for 0, also for entries whose squares would under- or overflow."""
    largest = np.abs(x).max(initial=0.0)
    if largest == 0.0:
        return x
    y = x / largest
    return y / math.sqrt(y @ y)


def normalised_columns(X: Array) -> Array:
    """Return the columns of X (n, r) brought to length 1; columns of zeros stay zero."""
    norms = np.linalg.norm(X, axis=0)
    return X / np.where(norms > 0, norms, 1.0)


def oriented(U: Array) -> Array:
    """Return the columns of ``U`` with their largest absolute entry (first of ties) positive."""
    if U.size == 0:
        return U
    pivot = U[np.argmax(np.abs(U), axis=0), np.arange(U.shape[1])]
    return U * np.where(pivot < 0, -1.0, 1.0) + 0.0  # no negative zeros


def largest_eigenpairs(S: Array, count: int) -> tuple[Array, Array]:
    """Return at most `count` largest eigenvalues of symmetric S (n, n), decreasing, and their eigenvectors.

    LAPACK's solver of a part of the spectrum can fail, or find too few, in a cluster of equal eigenvalues:
    then all are computed.
    """
    if len(S) == 0:
        return np.zeros(0), np.zeros((0, 0))
    try:
        values, vectors = scipy.linalg.eigh(S, subset_by_index=[max(len(S) - count, 0), len(S) - 1])
    except np.linalg.LinAlgError:
        values = np.zeros(0)
    if values.size < min(count, len(S)):
        values, vectors = np.linalg.eigh(S)
    return values[::-1][:count], np.ascontiguousarray(vectors[:, ::-1][:, :count])


def krylov(M: Array, start: Array) -> tuple[Array, Array, Array]:
    """Return Q, Ritz values (decreasing) and Z of symmetric M (n, n) in a block Krylov space.

    The space is spanned by `start` (n, b) and its products with M and M^2. The Ritz vectors are QZ. Searches
    for bounds call this again and again, from the last vectors, while M changes little.
    """
    image = M @ start
    K = np.asfortranarray(np.hstack([start, image, M @ image]))
    Q = scipy.linalg.qr(K, mode="economic", overwrite_a=True, check_finite=False)[0]
    H = (Q.T @ (M @ Q)).astype(np.float64)
    values, Z = np.linalg.eigh((H + H.T) / 2)
    return Q, values[::-1], Z[:, ::-1].astype(M.dtype)


def is_positive_definite(S: Array) -> bool:
    """Tell whether a Cholesky factorisation of symmetric ``S`` succeeds in floating point.

    LAPACK in WebAssembly returns NaN where others fail.
    """
    try:
        return bool(np.isfinite(np.linalg.cholesky(S)).all())
    except np.linalg.LinAlgError:
        return False
