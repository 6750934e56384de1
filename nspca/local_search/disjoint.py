"""Improve r disjoint components monotonically: matching ascent, then exchanges of features.

For A = VV' and unit c_j along V'x_j, ``x_j'Ax_j = ((Vc_j)'x_j)^2``. With c fixed, the best disjoint x is a
matching on the weights (Vc_j)_i^2 (nonnegative: of the positive part); with the supports fixed, the best x_j
is a leading vector. Neither step can lower the sum, so the result is never below the start. On the full A the
weights are ``(Ax_j)_i^2 / x_j'Ax_j``, which do not need V. Components are columns of X (n, r); `sizes`
is a tuple of r numbers. Everything is in unit scale. The methods `joint` and `bipartite` climb with these
functions, and `exchange` uses them between its moves.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nspca.covariance.covariance import DIRECT_LIMIT, Covariance
from nspca.covariance.linalg import Array, normalised, topk_sum
from nspca.local_search.matching import assign, best_labels
from nspca.local_search.single import GAIN, best_on_support, best_weights

ASCENT_CAP = 200
"""Maximum matching steps. The value is valid at every step, so stopping early only gives up gain."""
MOST_WEIGHTS = 1000
"""Maximum weights in one progress event: some ten kilobytes."""


def event_payload(X: Array) -> dict[str, Any]:
    """Return the payload of a progress event: each component as its features and weights.

    Components of more than `MOST_WEIGHTS` weights give an empty payload.
    """
    return {} if np.count_nonzero(X) > MOST_WEIGHTS else {"components": as_lists(X)}


def as_lists(X: Array) -> list[list[list[Any]]]:
    """Return each component of X (n, r) as its features and its weights, with six digits, for JSON."""
    return [[np.flatnonzero(x).tolist(), [float(f"{w:.6g}") for w in x[x != 0]]] for x in X.T]


def value(A: Covariance, X: Array) -> float:
    """Return ``tr X'AX``."""
    return float(sum(A.quadratic(x) for x in X.T))


def weights(G: Array, nonneg: bool) -> Array:
    """Return what each feature is worth to each component (n, r): the square of its entry of G (n, r).

    A column of G is the linear form of a component. For nonnegative components negative entries count as 0.
    """
    return np.square(np.maximum(G, 0.0) if nonneg else G)


def better_signs(G: Array, sizes: Sequence[int]) -> Array:
    """Return for each column of G (n, r) the sign (r,) whose positive part has the larger s_j entries."""
    reach = [
        [topk_sum(weights(sign * g, True), s) for sign in (1.0, -1.0)]
        for g, s in zip(G.T, sizes, strict=True)
    ]
    return np.where(np.diff(reach, axis=1)[:, 0] > 0, -1.0, 1.0)


def candidate(G: Array, sizes: Sequence[int], nonneg: bool) -> Array:
    """Return disjoint x_j (n, r) that maximise ``sum_j (x_j'g_j)^2``: Algorithm 2 of Asteris et al. 2015."""
    labels = assign(weights(G, nonneg), sizes)
    P = np.maximum(G, 0.0) if nonneg else G
    X = np.zeros_like(G)
    for j in range(len(sizes)):
        support = np.flatnonzero(labels == j)
        X[support, j] = normalised(P[support, j])
        if not X[support, j].any():
            X[support[0], j] = 1.0
    return X


def candidates(G: Array, labels: np.ndarray, nonneg: bool) -> Array:
    """Return `candidate` for each of many linear forms G (N, n, r), all at once, for a tiny n.

    `labels` (l, n) are all matchings, as `matching.every_matching` lists them.
    """
    labels = best_labels(weights(G, nonneg), labels)
    mine = labels[:, :, None] == np.arange(G.shape[2])
    X = np.where(mine, np.maximum(G, 0.0) if nonneg else G, 0.0)
    number, component = np.nonzero(~X.any(axis=1))
    X[number, np.argmax(mine[number, :, component], axis=1), component] = 1.0
    largest = np.abs(X).max(axis=1, keepdims=True)
    X /= largest  # squares of tiny entries would underflow
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def climb_factor(V: Array, C: Array, sizes: Sequence[int], nonneg: bool) -> tuple[Array, float]:
    """Ascend on VV' from directions C (d, r), and return components X (n, r) and ``tr X'VV'X``."""
    X, reached = np.zeros((len(V), len(sizes))), -1.0
    for _ in range(ASCENT_CAP):
        G = V @ C
        labels = assign(weights(G, nonneg), sizes)
        new, C, total = _leading_vectors(V, G, labels, len(sizes), nonneg)
        if not total > reached * (1 + GAIN):
            break
        X, reached = new, total
    return X, reached


def _leading_vectors(
    V: Array, G: Array, labels: NDArray[np.int64], r: int, nonneg: bool
) -> tuple[Array, Array, float]:
    """Return the best (nonnegative: a better) vector on every support, its direction, and the sum."""
    X, C, total = np.zeros((V.shape[0], r)), np.zeros((V.shape[1], r)), 0.0
    for j in range(r):
        support = np.flatnonzero(labels == j)
        part = V[support]
        if nonneg:
            x = normalised(np.maximum(G[support, j], 0.0))
            x = x if x.any() else np.eye(1, support.size)[0]
        elif support.size <= V.shape[1]:
            x = np.linalg.eigh(part @ part.T)[1][:, -1]
        else:
            x = normalised(part @ np.linalg.eigh(part.T @ part)[1][:, -1])
        x = x if x.any() else np.eye(1, support.size)[0]
        image = part.T @ x
        X[support, j] = x
        length = float(np.linalg.norm(image))
        total += length**2
        C[:, j] = image / length if length > 0 else np.eye(1, V.shape[1])[0]
    return X, C, total


def climb(A: Covariance, X: Array, sizes: Sequence[int], nonneg: bool) -> tuple[Array, float]:
    """Ascend on the full A from X (n, r) until no matching gains; supports end with their best vectors."""
    X, reached = settled(A, X, nonneg)
    for _ in range(ASCENT_CAP):
        image = A.product(X)
        quadratics = np.einsum("ij,ij->j", X, image)
        G = image / np.sqrt(np.where(quadratics > 0, quadratics, 1.0))
        new, total = settled(A, candidate(G, sizes, nonneg), nonneg)
        if not total > reached * (1 + GAIN):
            break
        X, reached = new, total
    return X, reached


def settled(A: Covariance, X: Array, nonneg: bool) -> tuple[Array, float]:
    """Return the best vector on every support, never below the given one, and ``tr X'AX`` of the result."""
    Y, total = X.copy(), 0.0
    used = np.flatnonzero(X.any(axis=1))
    # One block for all components: taking columns out of sparse data is the slow part.
    block = A.block(used) if used.size <= DIRECT_LIMIT else None
    for j, x in enumerate(X.T):
        support = np.flatnonzero(x)
        if block is None:
            Y[support, j] = best_weights(A, support, x[support], nonneg)
            before, after = A.quadratic(x), A.quadratic(Y[:, j])
        else:
            at = np.searchsorted(used, support)
            part, old = block[np.ix_(at, at)], x[support]
            Y[support, j] = best_on_support(part, old, nonneg)
            before, after = float(old @ part @ old), float(Y[support, j] @ part @ Y[support, j])
        if not after > before:
            Y[:, j] = x
        total += max(before, after)
    return Y, total
