"""Bound the maximum of f for each row: where the row must be taken, and where it must not be.

    f(c) = topk_i( p_i(c)^2 + h_i ) as in `cones`;  f+j: row j is among the k;  f-j: row j is not there

On a cone with T_gl = topk_i(p_ig p_il + h_i G_gl) the same sums for f+j and f-j are

    T+j = T - (k-th largest term - term of j)+,   T-j = T - (term of j - the next after the k largest)+

so one sorting serves all rows, and T+j, T-j bound f+j, f-j on the cone as T bounds f. A cover that proves the
maximum of f has cones as large as that allows; this one splits all that reach a level of interest until T is
nearly what f is at their corners, so that single rows are felt.
Cost: O(n D^2) per cone, and a D x D factorisation for a row in a cone whose entries alone do not do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nspca.lowrank import copositive
from nspca.lowrank.cones import LEAF, Query, roots
from nspca.matrix.linalg import UNIT_ROUNDOFF, Array
from nspca.progress import Event, Report, silent

AT_ONCE = 2**20
"""Terms held at a time: 8 MB."""
SPLIT_AT_ONCE = 256
"""Cones split between two looks: those with the largest bounds first."""
STEP = 1e-6
"""A bound of a row that is not proved yet is raised by this share of the largest, then by twice that, ..."""
DEEPEST = 2.0**50
"""Generators are whole numbers below this one, so their sums are exact."""
ROUNDING = 64
"""Unit roundoffs, times D and topk |v|^2, that evaluating a sum here can lose."""
PROOF = 8
"""Unit roundoffs, times D, k + 8D + 40 and topk |v|^2, that a proof by Cholesky can need of a matrix."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Bounds for every row of a query, and the cover that proves them.

    Attributes
    ----------
    upper : float
        Of f.
    having, lacking : (n,) float64
        Of f+j and f-j, none above `upper`, none below the level that was of interest; -inf where there is no
        such sum.
    tree : (codes,) uint8
    cones : int
    """

    upper: float
    having: Array
    lacking: Array
    tree: np.ndarray
    cones: int


def rows(query: Query, floors: Sequence[float], tol: float, cap: int, report: Report = silent) -> Rows:
    """Bounds for every row, from one cover.

    Parameters
    ----------
    query : Query
    floors : levels, decreasing
        Nothing is asked about directions where f stays below the first, nor below the next once all that
        lies above the one before is settled.
    tol : float
        Cones are split until their bound is within this of f at a corner, ...
    cap : int
        ... or there are so many.
    report : callable
        Gets an `Event` now and then; raises `Cancelled` to stop.
    """
    f = _Objective(query)
    cover, settled = _Cover(f, tol), floors[0]
    for floor in floors:
        while (open_ := cover.open(floor)).size and cover.count < cap:
            report(Event("features", cover.count, cap))
            cover.split(open_[np.argsort(-cover.bound[open_], kind="stable")[:SPLIT_AT_ONCE]])
        if open_.size:
            break
        settled = floor
    cover.prune()
    upper = max(float(cover.bound[cover.leaves].max()), settled)
    having, lacking = _each(f, cover, upper, settled, report)
    return Rows(upper, having, lacking, cover.tree, cover.count)


class _Objective:
    """The terms of f and their sums on many cones at once."""

    def __init__(self, query: Query):
        V, n = np.asarray(query.V, dtype=np.float64), len(query.V)
        self.nonneg, self.d, self.root_tau = query.nonneg, V.shape[1], float(np.sqrt(query.tau))
        self.extra, self.n, self.fixed = query.tau > 0, n, query.fixed
        self.V = np.column_stack((V, np.full(n, self.root_tau))) if self.extra else V
        self.D, self.room = self.V.shape[1], min(query.k, n) - query.fixed
        self.h = np.zeros(n) if query.h is None else query.h
        self.edges = np.triu_indices(self.D) if self.D else (np.zeros(1, int), np.zeros(1, int))
        size = np.sort((self.V**2).sum(axis=1) + self.h)
        lost = UNIT_ROUNDOFF * max(self.D, 1) * size[max(n - query.k, 0) :].sum()
        self.margin, self.room_of_proof = ROUNDING * lost, PROOF * (query.k + 8 * self.D + 40) * lost

    def roots(self) -> Array:
        """Generators (cones, D, D) of the orthants."""
        return np.array([np.diag(np.array(s, dtype=float)) for s in roots(self.D, self.extra, self.nonneg)])

    def pieces(self, cones: np.ndarray) -> Iterator[np.ndarray]:
        """Cones by number, as many at once as their terms allow."""
        step = max(1, AT_ONCE // (self.n * len(self.edges[0]) or 1))
        return (cones[i : i + step] for i in range(0, len(cones), step))

    def terms(self, generators: Array) -> tuple[Array, Array]:
        """Products G (edges, cones) of unit generators, and terms (edges, cones, n)."""
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
        """Symmetric matrices (cones, D, D) of entries (edges, cones)."""
        S = np.empty((entries.shape[1], self.D, self.D))
        S[:, self.edges[0], self.edges[1]] = S[:, self.edges[1], self.edges[0]] = entries.T
        return S

    def without_positive(self, S: Array) -> Array:
        """Entries (edges, cones), the positive ones off the diagonal put to 0."""
        off = (self.edges[0] != self.edges[1])[:, None]
        return np.where(off, np.minimum(S, 0.0), S)

    def bounds(self, G: Array, T: Array) -> tuple[Array, np.ndarray]:
        """Return bounds of f on cones, as in `objective`, and the edge (cones, 2) to split of each."""
        with np.errstate(divide="ignore", invalid="ignore"):
            simple = np.where(G.min(axis=0) > 1e-12, (T / G).max(axis=0), np.inf)
        if self.D == 0:
            return T[0], np.zeros((1, 2), dtype=int)
        G, T = self.matrices(G), self.matrices(T)
        base = np.einsum("cii->ci", T).max(axis=1)
        L = np.linalg.cholesky(G)
        half = np.linalg.solve(L, T - base[:, None, None] * G)
        whole = np.linalg.solve(L, half.transpose(0, 2, 1))
        narrow = self.room_of_proof / np.maximum(np.linalg.eigvalsh(G)[:, 0], UNIT_ROUNDOFF)
        known = np.minimum(simple, base + np.linalg.eigvalsh(whole)[:, -1] + narrow)
        return copositive.lowered(G, T, known) + self.margin, copositive.dearest(G, T)


class _Cover:
    """A split tree of cones, every one with its bound and how far that is from f at a corner."""

    def __init__(self, f: _Objective, tol: float):
        self.f, self.tol = f, tol
        self.generators, self.codes = np.zeros((0, f.D, f.D)), np.zeros(0, dtype=int)
        self.children, self.edges = np.zeros((0, 2), dtype=int), np.zeros((0, 2), dtype=int)
        self.bound, self.off, self.there = np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool)
        self.roots = self.add(f.roots() if f.D else np.zeros((1, 0, 0)))

    @property
    def count(self) -> int:
        return len(self.codes)

    @property
    def leaves(self) -> np.ndarray:
        """Return the numbers of the leaves; cones below a pruned split are not leaves."""
        return np.flatnonzero((self.codes == LEAF) & self.there)

    def open(self, floor: float) -> np.ndarray:
        """Leaves that are worth splitting."""
        return np.flatnonzero((self.bound > floor) & (self.off > self.tol) & (self.codes == LEAF))

    def add(self, generators: Array) -> np.ndarray:
        """Cones with their bounds, each its own, which is what can be proved of it; their numbers."""
        f, first = self.f, self.count
        bound, corner, edges = [], [], []
        for piece in f.pieces(np.arange(len(generators))):
            G, terms = f.terms(generators[piece])
            T = taken(terms, f.fixed, f.room)[0]
            of_cones, dearest = f.bounds(G, T)
            bound.append(of_cones)
            edges.append(dearest)
            corner.append(T[f.edges[0] == f.edges[1]].max(axis=0))
        self.bound = np.append(self.bound, np.concatenate(bound))
        shallow = np.abs(generators).max(axis=(1, 2), initial=0.0) < DEEPEST
        off = np.where(shallow & (f.D > 1), self.bound[first:] - np.concatenate(corner), 0.0)
        self.off = np.append(self.off, off)
        self.generators = np.concatenate((self.generators, generators))
        self.edges = np.concatenate((self.edges, *edges))
        self.codes = np.append(self.codes, np.full(len(generators), LEAF))
        self.there = np.append(self.there, np.ones(len(generators), dtype=bool))
        self.children = np.concatenate((self.children, np.full((len(generators), 2), -1)))
        return np.arange(first, self.count)

    def split(self, nodes: np.ndarray) -> None:
        """Each at the edge that weighs most in its bound."""
        g, (j, l), every = self.generators[nodes], self.edges[nodes].T, np.arange(len(nodes))
        middle, first, second = g[every, j] + g[every, l], g.copy(), g.copy()
        first[every, j] = second[every, l] = middle
        self.codes[nodes] = j * self.f.D + l
        self.children[nodes] = self.add(np.concatenate((first, second))).reshape(2, -1).T

    def prune(self) -> None:
        """Undo splits that prove less than the whole did: an eigenvalue may be larger for a part."""
        best = self.bound.copy()
        for node in np.flatnonzero(self.codes != LEAF)[::-1]:  # parts have higher numbers
            of_parts = best[self.children[node]].max()
            if of_parts >= best[node]:
                self.codes[node] = LEAF
            else:
                best[node] = of_parts
        for node in np.flatnonzero(self.children[:, 0] >= 0):
            if self.codes[node] == LEAF or not self.there[node]:
                self.there[self.children[node]] = False

    @property
    def tree(self) -> np.ndarray:
        """Codes in preorder; of D = 0 there are none."""
        codes, stack = [], list(self.roots[::-1]) if self.f.D else []
        while stack:
            node = stack.pop()
            codes.append(self.codes[node])
            if self.codes[node] != LEAF:
                stack += list(self.children[node][::-1])
        return np.array(codes, dtype=np.uint8)


def _each(f: _Objective, cover: _Cover, upper: float, floor: float, report: Report):
    """Bounds of f+j and f-j for all rows: raised, from what their sums reach at corners, until every cone
    agrees.
    """
    live = cover.leaves[cover.bound[cover.leaves] > floor]
    live = live[np.argsort(-cover.bound[live], kind="stable")]
    claims = np.full((2, f.n), floor)
    corners = f.edges[0] == f.edges[1]
    for piece in f.pieces(live):
        G, terms = f.terms(cover.generators[piece])
        for claim, T in zip(claims, changed(terms[corners], f.fixed, f.room), strict=True):
            np.maximum(claim, T.max(axis=(0, 1)), out=claim)
    claims = np.minimum(claims + f.margin, upper)
    for done, piece in enumerate(f.pieces(live)):
        report(Event("features", done, max(1, live.size)))
        G, terms = f.terms(cover.generators[piece])
        for claim, T in zip(claims, changed(terms, f.fixed, f.room), strict=True):
            _raise(f, claim, G, T, upper)
    if f.room == 0:
        claims[0, f.fixed :] = -np.inf
    return claims[0], claims[1]


def changed(terms: Array, fixed: int, room: int) -> tuple[Array, Array]:
    """Sums with each term (..., n), and without it: of the `fixed` first terms and the `room` largest others.

    Of a term that cannot be among them the first sum is -inf.
    """
    T, last, following = taken(terms, fixed, room)
    having = T[..., None] - np.maximum(last[..., None] - terms, 0.0)
    lacking = T[..., None] - np.maximum(terms - following[..., None], 0.0)
    having[..., :fixed], lacking[..., :fixed] = T[..., None], T[..., None] - terms[..., :fixed]
    return having, lacking


def taken(terms: Array, fixed: int, room: int) -> tuple[Array, Array, Array]:
    """The sum; the smallest of its terms that could be exchanged, inf if none is taken, 0 if all are; the
    largest that is not taken, inf if none could be.
    """
    T, free = terms[..., :fixed].sum(axis=-1), terms[..., fixed:]
    n, shape = free.shape[-1], terms.shape[:-1]
    if room >= n:
        return T + free.sum(axis=-1), np.zeros(shape), np.zeros(shape)
    if room == 0:
        return T, np.full(shape, np.inf), np.full(shape, np.inf)
    free = np.partition(free, (n - room - 1, n - room), axis=-1)
    return T + free[..., n - room :].sum(axis=-1), free[..., n - room], free[..., n - room - 1]


def _raise(f: _Objective, claim: Array, G: Array, T: Array, upper: float) -> None:
    """Raise the claims (n,) until they hold on these cones; at `upper` they do."""
    step = np.full(claim.size, STEP * max(abs(upper), f.margin))
    cones, features = np.nonzero((T + f.margin > claim * G[:, :, None]).any(axis=0) & (claim < upper))
    T, G = T[:, cones, features], G[:, cones]
    while cones.size:
        S = claim[features] * G - (T + f.margin)
        holds = (S >= 0).all(axis=0) | _definite(S, f) | _definite(f.without_positive(S), f)
        wrong = ~holds & (claim[features] < upper)
        cones, features, T, G = cones[wrong], features[wrong], T[:, wrong], G[:, wrong]
        those = np.unique(features)
        claim[those] = np.minimum(claim[those] + step[those], upper)
        step[those] *= 2


def _definite(S: Array, f: _Objective) -> np.ndarray:
    """Tell which symmetric matrices with entries S (edges, matrices) are positive definite with a margin."""
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
