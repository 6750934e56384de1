"""Terms of f(c) = topk_i( p_i(c)^2 + h_i ) on many cones at once, and their sums with and without each row.

On a cone with generators g_j the terms are ``p_ij p_il + h_i G_jl``, one for each edge (j, l) and each row i.
``T_jl`` is the sum of the k largest. ``T+i`` must take row i and ``T-i`` may not take it. Bounds on f with
such a rule follow from these sums as the bound on f follows from T (docs/note.md, Theorem 4).

The searches of `fixing` and `membership` in this package use a `Terms`.
"""

from collections.abc import Iterator

import numpy as np

from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, topk_sum
from nspca.lowrank import copositive
from nspca.lowrank.cones import roots
from nspca.lowrank.objective import Query, largest_ratio

AT_ONCE = 2**20
"""Maximum number of terms in memory at a time: 8 MB."""
ALLOWED = 6
"""Size of the sums and of a claim about them, in topk |v|^2 + topk |h|: that of T, two terms and a claim."""


class Terms:
    """The terms of f and their sums on many cones at once.

    Attributes
    ----------
    n, d, D : int
        Rows of the query, columns of its V, and coordinates of a direction: d, or d + 1 with a tau.
    fixed, room : int
        Number of first rows that every sum has, and of other rows that it may have.
    edges : two int arrays
        The pairs (j, l) with j <= l of generators.
    mass : float
        topk |v|^2 + topk |h|, which f does not exceed.
    margin, room_of_proof : float
        Rounding error of a computed sum, and distance from singular that a proof by Cholesky needs. Both are
        at least what a checker must allow for: k + 8D + 32 roundings, and D times that.
    """

    def __init__(self, query: Query):
        V, n = np.asarray(query.V, dtype=np.float64), len(query.V)
        self.nonneg, self.d, self.root_tau = query.nonneg, V.shape[1], float(np.sqrt(query.tau))
        self.extra, self.n, self.fixed = query.tau > 0, n, query.fixed
        self.V = np.column_stack((V, np.full(n, self.root_tau))) if self.extra else V
        self.D, self.room = self.V.shape[1], min(query.k, n) - query.fixed
        self.h = np.zeros(n) if query.h is None else query.h
        self.edges = np.triu_indices(self.D) if self.D else (np.zeros(1, int), np.zeros(1, int))
        parts = (self.V**2).sum(axis=1), np.abs(self.h)
        self.mass = sum(float(topk_sum(part, query.k, query.fixed)) for part in parts)
        self.margin = 1.05 * UNIT_ROUNDOFF * (query.k + 8 * self.D + 40) * ALLOWED * self.mass
        self.room_of_proof = 1.5 * max(self.D, 1) * self.margin

    def roots(self) -> Array:
        """Return the generators (cones, D, D) of the orthants."""
        return np.array([np.diag(np.array(s, dtype=float)) for s in roots(self.D, self.extra, self.nonneg)])

    def pieces(self, cones: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the numbers `cones` in pieces whose terms fit into memory together."""
        step = max(1, AT_ONCE // (self.n * len(self.edges[0]) or 1))
        return (cones[i : i + step] for i in range(0, len(cones), step))

    def terms(self, generators: Array) -> tuple[Array, Array]:
        """Return products G (edges, cones) of unit generators, and the terms (edges, cones, n)."""
        if self.D == 0:
            return np.ones((1, len(generators))), np.broadcast_to(self.h, (1, len(generators), self.n))
        g = generators / np.linalg.norm(generators, axis=2, keepdims=True)
        a, b = self.edges
        if self.nonneg:
            p = np.maximum(g @ self.V.T, 0.0)
        else:
            d = self.d
            p = np.abs(g[..., :d] @ self.V[:, :d].T) + g[..., d:] @ self.V[:, d:].T
        G = np.einsum("cei,cei->ec", g[:, a], g[:, b])
        return G, (p[:, a] * p[:, b]).transpose(1, 0, 2) + self.h * G[:, :, None]

    def matrices(self, entries: Array) -> Array:
        """Return the symmetric matrices (cones, D, D) that have the given entries (edges, cones)."""
        S = np.empty((entries.shape[1], self.D, self.D))
        S[:, self.edges[0], self.edges[1]] = S[:, self.edges[1], self.edges[0]] = entries.T
        return S

    def without_positive(self, S: Array) -> Array:
        """Return entries S (edges, cones) with the positive ones off the diagonal set to 0."""
        off = (self.edges[0] != self.edges[1])[:, None]
        return np.where(off, np.minimum(S, 0.0), S)

    def bounds(self, G: Array, T: Array) -> tuple[Array, np.ndarray]:
        """Return the bounds of f on cones, as in `objective`, and the edge (cones, 2) to split each at."""
        with np.errstate(divide="ignore", invalid="ignore"):
            simple = np.where(G.min(axis=0) > 1e-12, (T / G).max(axis=0), self.mass)
        if self.D == 0:
            return T[0], np.zeros((1, 2), dtype=int)
        G, T = self.matrices(G), self.matrices(T)
        narrow = self.room_of_proof / np.maximum(np.linalg.eigvalsh(G)[:, 0], UNIT_ROUNDOFF)
        known = np.minimum(simple, largest_ratio(G, T) + narrow)
        return copositive.lowered(G, T, known) + self.margin, copositive.dearest(G, T)


def changed(terms: Array, fixed: int, room: int) -> tuple[Array, Array]:
    """Return for each term (..., n) the largest sum that uses it, and the largest that does not.

    A sum has the `fixed` first terms and `room` of the others. The first sum is -inf for a term that cannot
    be used.
    """
    T, last, following = taken(terms, fixed, room)
    having = T[..., None] - np.maximum(last[..., None] - terms, 0.0)
    lacking = T[..., None] - np.maximum(terms - following[..., None], 0.0)
    having[..., :fixed], lacking[..., :fixed] = T[..., None], T[..., None] - terms[..., :fixed]
    return having, lacking


def taken(terms: Array, fixed: int, room: int) -> tuple[Array, Array, Array]:
    """Return the sum of the `fixed` first terms and the `room` largest others, and its two nearest exchanges.

    Negative free terms, of rows with a price, count as 0. The second array is the smallest free term in the
    sum: 0 if all free terms are in it, inf if none is. The third is the largest free term left out: 0 if none
    is left out, inf if there is no room for any.
    """
    T, free = terms[..., :fixed].sum(axis=-1), np.maximum(terms[..., fixed:], 0.0)
    n, shape = free.shape[-1], terms.shape[:-1]
    if room >= n:
        return T + free.sum(axis=-1), np.zeros(shape), np.zeros(shape)
    if room == 0:
        return T, np.full(shape, np.inf), np.full(shape, np.inf)
    free = np.partition(free, (n - room - 1, n - room), axis=-1)
    return T + free[..., n - room :].sum(axis=-1), free[..., n - room], free[..., n - room - 1]


def definite(S: Array, f: Terms) -> np.ndarray:
    """Return which symmetric matrices with entries S (edges, matrices) are safely positive definite.

    Elimination runs on all matrices at once, each lowered by `Terms.room_of_proof` times the identity.
    """
    if f.D == 0:
        return S[0] >= 0
    at = {edge: i for i, edge in enumerate(zip(*(part.tolist() for part in f.edges), strict=True))}
    S, D = S.copy(), f.D
    good = np.ones(S.shape[1], dtype=bool)
    for i in range(D):
        S[at[i, i]] -= f.room_of_proof
    with np.errstate(all="ignore"):
        for i in range(D):
            pivot = S[at[i, i]]
            good &= pivot > 0
            for a in range(i + 1, D):
                ratio = S[at[i, a]] / pivot
                for b in range(a, D):
                    S[at[a, b]] -= ratio * S[at[i, b]]
    return good
