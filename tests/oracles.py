"""Brute force and sampling: what every exact method, bound and certificate is held against.

None of this imports the package. `brute_force` and `brute_force_joint` are exact up to rounding; they return
feasible points, so they can never be above the optimum, and a bound below them is wrong. `makers.brute` finds
the same in another way, which tests the oracles themselves.

Why one eigenvector per index set is enough for the nonnegative problem, any symmetric A. Take an optimal x
with as few positive entries as possible, J = {i : x_i > 0}. Near x_J the constraint x >= 0 does not bind, so
x_J is a local maximum of a quadratic form on a sphere, hence a leading eigenvector of A_JJ. Were that
eigenvalue repeated, x_J could be moved inside the eigenspace at no loss until an entry vanishes, against the
choice of J. So the leading eigenvalue of A_JJ is simple and its eigenvector, up to sign, is x_J > 0. Going
over all J with |J| <= k and cutting the computed eigenvector (either sign) at zero therefore meets the
optimum, and yields feasible points only.
"""

from functools import lru_cache
from itertools import combinations

import numpy as np


def brute_force(A, k, nonneg=True):
    """Optimum of ``x'Ax`` over ``|x| = 1, |x|_0 <= k`` (and ``x >= 0``) for n <= 12: ``(value, x)``."""
    n = len(A)
    assert n <= 12, "brute force over all supports"
    best, best_x = -np.inf, None
    for size in range(1, k + 1):
        values, X = _leading_on_supports(A, size, nonneg)
        top = int(np.argmax(values))
        if values[top] > best:
            best, best_x = float(values[top]), X[top]
    return best, best_x


def brute_force_forced(A, k, forced, nonneg=True):
    """Optimum over supports within F and k - |F| other features, n <= 12: the value."""
    others, best = [j for j in range(len(A)) if j not in forced], -np.inf
    for chosen in combinations(others, min(k - len(forced), len(others))):
        I = [*forced, *chosen]
        best = max(best, brute_force(A[np.ix_(I, I)], len(I), nonneg)[0])
    return best


def brute_force_features(A, k, forced=(), nonneg=True):
    """For every feature the optimum over supports that have it, and over those that lack it, n <= 9; 0 where
    there are none. ``(having, lacking)``; forced features count among the k in any case.
    """
    n, having, lacking = len(A), np.zeros(len(A)), np.zeros(len(A))
    others = [j for j in range(n) if j not in forced]
    for chosen in combinations(others, min(k - len(forced), len(others))):
        I = sorted([*forced, *chosen])
        value = brute_force(A[np.ix_(I, I)], len(I), nonneg)[0]
        having[I] = np.maximum(having[I], value)
        outside = np.setdiff1d(range(n), I)
        lacking[outside] = np.maximum(lacking[outside], value)
        for j in I:
            R = [i for i in I if i != j]
            if R:
                lacking[j] = max(lacking[j], brute_force(A[np.ix_(R, R)], len(R), nonneg)[0])
    return having, lacking


def brute_force_answers(A, k, level, forced=(), nonneg=True):
    """The minimal sets of at most k features, forced ones among them, that explain more than a level, as a
    list of sets, n <= 13. A set explains the largest eigenvalue of its parts whose vector has one sign.
    """
    n, own = len(A), {}
    for size in range(1, min(k, n) + 1):
        supports = _supports(n, size)
        values, Y = np.linalg.eigh(A[supports[:, :, None], supports[:, None, :]])
        for at, T in enumerate(supports.tolist()):
            y = Y[at, :, -1] * (1 if Y[at, :, -1].sum() >= 0 else -1)
            value = float(values[at, -1]) if not nonneg or y.min() >= -1e-12 else 0.0
            smaller = [own[(*T[:i], *T[i + 1 :])] for i in range(size)] if size > 1 else [0.0]
            own[tuple(T)] = max(value, *smaller)
    found = []
    for T, value in own.items():
        whole = {*T} >= {*forced}
        if value > level and whole and not any(one <= {*T} for one in found):
            found.append({*T})
    return found


def brute_force_joint(A, sizes, nonneg=True):
    """Optimum of ``sum_j x_j'Ax_j`` over disjoint unit x_j with at most ``sizes[j]`` nonzeros (and
    ``x_j >= 0``), n <= 8: ``(value, X (n, r))``.
    """
    n = len(A)
    assert n <= 8, "brute force over all families of disjoint supports"
    best = {}
    for size in range(1, max(sizes) + 1):
        values, X = _leading_on_supports(A, size, nonneg)
        for value, x, support in zip(values, X, combinations(range(n), size), strict=True):
            best[sum(1 << i for i in support)] = (float(value), x)

    @lru_cache(None)
    def search(j, free):
        if j == len(sizes):
            return 0.0, ()
        top = (-np.inf, ())
        for mask, (value, _) in best.items():
            if mask & ~free or mask.bit_count() > sizes[j]:
                continue
            rest, chosen = search(j + 1, free & ~mask)
            top = max(top, (value + rest, (mask, *chosen)))
        return top

    value, chosen = search(0, (1 << n) - 1)
    return value, np.stack([best[mask][1] for mask in chosen], axis=1)


@lru_cache(100)
def _supports(n, size):
    """All supports of exactly this size. (count, size)"""
    return np.array(list(combinations(range(n), size)))


def _leading_on_supports(A, size, nonneg):
    """For every support of exactly this size: the best unit x from its leading eigenvector, and its value.
    (count,), (count, n)
    """
    n = len(A)
    supports = _supports(n, size)
    Y = np.linalg.eigh(A[supports[:, :, None], supports[:, None, :]])[1][:, :, -1]
    if nonneg:
        Y = np.concatenate([np.maximum(Y, 0), np.maximum(-Y, 0)])
        supports = np.concatenate([supports, supports])
    size2 = np.square(Y).sum(axis=1)
    X = np.zeros((len(Y), n))
    np.put_along_axis(X, supports, Y / np.sqrt(np.where(size2 > 0, size2, 1.0))[:, None], axis=1)
    values = np.where(size2 > 0, ((X @ A) * X).sum(axis=1), -np.inf)
    if nonneg:
        half = len(values) // 2
        flip = values[half:] > values[:half]
        values, X = np.where(flip, values[half:], values[:half]), np.where(flip[:, None], X[half:], X[:half])
    return values, X


def brute_force_pd(R):
    """(P_d): ``max |Rc|^2, |c| = 1, Rc >= 0`` over every set of active rows: ``(value, c or None)``.

    By the argument above, an optimal c with as many active constraints as possible is the simple leading
    eigenvector of R'R on their null space.
    """
    k, d = R.shape
    unit = R / np.maximum(np.linalg.norm(R, axis=1, keepdims=True), np.finfo(float).tiny)
    best, best_c = -np.inf, None
    for size in range(min(k, d - 1) + 1):
        for active in combinations(range(k), size):
            _, s, directions = np.linalg.svd(unit[list(active)].reshape(size, d))
            B = directions[int((s > 1e-10).sum()) :].T
            if not B.shape[1]:
                continue
            u = B @ np.linalg.eigh(B.T @ R.T @ R @ B)[1][:, -1]
            for c in (u, -u):
                value = float(np.square(R @ c).sum())
                if (unit @ c >= -1e-9).all() and value > best:
                    best, best_c = value, c
    return best, best_c
