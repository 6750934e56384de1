"""Find rows that must be taken, or cannot be, wherever f exceeds a level: the search half of fixing features.

    f(c) = topk_i( p_i(c)^2 + h_i );  f+j: row j is among the k;  f-j: row j is not there

Row j can be left out where f+j stays below the level in all directions, and must be taken where f-j does.
Both are proved cone by cone. On a cone with generators g_j the terms are ``p_ij p_il + h_i G_jl``, one for
each edge (j, l) and each row i. ``T_jl`` is the sum of the k largest. ``T+i`` must take row i and ``T-i`` may
not take it. Bounds on f with such a rule follow from these sums as the bound on f follows from T
(docs/note.md, Theorem 4). A direction at which f+j exceeds the level ends the question about j at once, so
only rows that may be fixed cost cones.

`bounds.fixing.stages` calls `fixed_rows` to fix features at a node. `bounds.fixing.settle` calls
`at_directions` to choose a feature. A *claim* is the statement about one row that is to be proved: that the
row is out, or in.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import UNIT_ROUNDOFF, Array
from nspca.lowrank import copositive
from nspca.lowrank.cones import orthants
from nspca.lowrank.forest import LEAF, preorder
from nspca.lowrank.objective import Objective, Query
from nspca.progress import Event, Report, silent

SPLIT_AT_ONCE = 128
"""Number of cones split before claims are checked again; those with the largest bounds come first."""
AT_ONCE = 2**20
"""Maximum number of terms in memory at a time: 8 MB."""
FEW_ROWS, ROWS_EACH = 64, 8
"""The cap of cones holds for up to `FEW_ROWS` rows plus `ROWS_EACH` for each claim that is still possible.
With more rows it is lowered in proportion, because a cone costs as much as it has rows.
"""
DEEPEST = 2.0**50
"""Limit of the whole numbers in generators, so that sums of two generators are exact."""
ALLOWED = 6
"""Size of the sums and of a claim about them, in topk |v|^2 + topk |h|: that of T, two terms and a claim."""


@dataclass(frozen=True, eq=False)
class Fixed:
    """Rows that the cover `tree` (codes,) proves to be out and in, as masks (n,)."""

    out: np.ndarray
    into: np.ndarray
    tree: np.ndarray


def fixed_rows(
    query: Query,
    level: float,
    wanted: tuple[np.ndarray, np.ndarray],
    directions: Array,
    cap: int,
    report: Report = silent,
    least: int = 1,
) -> Fixed:
    """Return the rows whose f+j, or f-j, is proved to stay at or below a level everywhere.

    Parameters
    ----------
    query : Query
    level : float
    wanted : two (n,) bool
        Rows that may be fixed out, and in.
    directions : (c, D) float64
        Unit directions at which f is known to be large: they rule out most rows before any cone is made.
    cap : int
        Maximum number of cones. Rows that are undecided by then are not fixed.
    report : callable
        Gets an `Event` now and then, and may raise `Cancelled`.
    least : int
        Where the directions leave fewer rows than this that may be fixed, none is fixed.
    """
    return _Search(query, level, wanted, cap).run(directions, report, least)


def at_directions(query: Query, directions: Array) -> tuple[Array, Array]:
    """Return the largest f+j and f-j (n,) over some unit directions (c, D)."""
    return _reached(Objective(query), directions)


def _reached(f: Objective, directions: Array) -> tuple[Array, Array]:
    p, _ = f.values(directions, np.arange(len(f.V)))
    terms = p * p + (0.0 if f.h is None else f.h)
    sums = taken(terms, f.fixed, f.k - f.fixed)
    having, lacking = with_each(terms, sums), without_each(terms, sums)
    having[:, : f.fixed], lacking[:, : f.fixed] = sums[0][:, None], sums[0][:, None] - terms[:, : f.fixed]
    return having.max(axis=0), lacking.max(axis=0)


def margins(query: Query, f: Objective) -> tuple[float, float]:
    """Return the rounding error of a computed sum, and the distance from singular of a proof by Cholesky.

    Both are at least what a checker must allow for: k + 8D + 32 roundings, and D times that.
    """
    mass = float(f.total(query.sizes)) + (0.0 if f.h is None else float(f.total(np.abs(f.h))))
    error = 1.05 * UNIT_ROUNDOFF * (query.k + 8 * f.D + 40) * ALLOWED * mass
    return error, 1.5 * max(f.D, 1) * error


@dataclass(eq=False)
class _Cone:
    """A cone of the search: its bound, the edge to split, and the numbers of the claims not proved on it.

    `code` is that of its split, and `first` the number of its first half.
    """

    generators: Array
    bound: float
    edge: np.ndarray
    failing: np.ndarray
    code: int = LEAF
    first: int = -1


class _Search:
    """State of one run of `fixed_rows`.

    Attributes
    ----------
    alive : (2n,) bool
        Claims that are left: the first n say that a row is out, the last n that it is in.
    made : list of _Cone
        Cones in the order they were made; the halves of a cone follow each other.
    edges : two int arrays
        The pairs (j, l) with j <= l of generators.
    """

    def __init__(self, query: Query, level: float, wanted: tuple[np.ndarray, np.ndarray], cap: int):
        self.f, self.level, self.cap = Objective(query), level, cap
        self.margin, self.distance = margins(query, self.f)
        self.n, self.room = len(query.V), self.f.k - self.f.fixed
        self.alive = np.concatenate(wanted)
        self.alive[self.n : self.n + self.f.fixed] = self.alive[: self.f.fixed] = False
        self.alive &= self.room > 0
        self.made: list[_Cone] = []
        self.edges = np.triu_indices(self.f.D) if self.f.D else (np.zeros(1, int), np.zeros(1, int))

    def run(self, directions: Array, report: Report, least: int) -> Fixed:
        """Split cones until every claim that is left holds on each, or there are too many."""
        f, roots = self.f, 0
        if len(directions):
            self.alive &= np.concatenate(_reached(f, directions)) + self.margin <= self.level
        if np.count_nonzero(self.alive) < least:
            self.alive[:] = False
        worth = (FEW_ROWS + ROWS_EACH * int(self.alive.sum())) / max(self.n, 1)
        cap = int(self.cap * min(1.0, worth))
        if self.alive.any():
            waiting = self.add(orthants(f) if f.D else np.zeros((1, 0, 0)))
            roots, waiting = len(waiting), self.failed(waiting)
            while waiting and self.alive.any() and len(self.made) < cap:
                report(Event("features", len(self.made), cap))
                waiting.sort(key=lambda one: -self.made[one].bound)
                now, waiting = waiting[:SPLIT_AT_ONCE], waiting[SPLIT_AT_ONCE:]
                waiting = self.failed(waiting + self.split(now))
            for one in waiting:
                self.alive[self.made[one].failing] = False
        out, into = np.split(self.alive, 2)
        return Fixed(out & ~into, into, self.tree(roots))

    def failed(self, cones: Iterable[int]) -> list[int]:
        """Return which of some cones have a claim that is left and not proved."""
        return [i for i in cones if self.made[i].code == LEAF and self.alive[self.made[i].failing].any()]

    def add(self, generators: Array) -> list[int]:
        """Make cones, and find the claims that are not proved on each."""
        first, step = len(self.made), max(1, AT_ONCE // (self.n * len(self.edges[0]) or 1))
        for start in range(0, len(generators), step):
            piece = generators[start : start + step]
            G, terms = self.terms(piece)
            sums = T, *_ = taken(terms, self.f.fixed, self.room)
            bounds, above = T[0], np.flatnonzero(T[0] > self.level)
            edges, failing = np.zeros((len(piece), 2), dtype=int), [np.zeros(0, dtype=int)] * len(piece)
            if self.f.D:
                of_G, of_T = self.matrices(G), self.matrices(T)
                bounds = self.f.bounds(of_G, of_T, self.level)
                narrow = self.distance / np.maximum(np.linalg.eigvalsh(of_G)[:, 0], UNIT_ROUNDOFF)
                above = np.flatnonzero(bounds + narrow > self.level)
                if above.size:
                    edges[above] = copositive.dearest(of_G[above], of_T[above])
            if above.size:
                some = slice(None) if above.size == len(piece) else above
                parts = G[:, some], terms[:, some], tuple(part[:, some] for part in sums)
                for one, claims in zip(above, self.unproved(*parts), strict=True):
                    failing[one] = claims
            self.made += map(_Cone, piece, bounds.tolist(), edges, failing)
        return [*range(first, len(self.made))]

    def terms(self, generators: Array) -> tuple[Array, Array]:
        """Return products G (edges, cones) of unit generators, and the terms (edges, cones, n)."""
        f, c = self.f, len(generators)
        if not f.D:
            h = np.zeros(self.n) if f.h is None else f.h
            return np.ones((1, c)), np.broadcast_to(h, (1, c, self.n))
        g = generators / np.linalg.norm(generators, axis=2, keepdims=True)
        (p, _), (a, b) = f.values(g, np.arange(self.n)), self.edges
        G = np.einsum("cei,cei->ec", g[:, a], g[:, b])
        terms = np.empty((a.size, c, self.n))
        for one, j, l, of_edge in zip(terms, a, b, G, strict=True):
            np.multiply(p[:, j], p[:, l], out=one)
            if f.h is not None:
                one += f.h * of_edge[:, None]
        return G, terms

    def matrices(self, entries: Array) -> Array:
        """Return the symmetric matrices (cones, D, D) that have the given entries (edges, cones)."""
        S = np.empty((entries.shape[1], self.f.D, self.f.D))
        S[:, self.edges[0], self.edges[1]] = S[:, self.edges[1], self.edges[0]] = entries.T
        return S

    def unproved(self, G: Array, terms: Array, sums: tuple[Array, ...]) -> list[np.ndarray]:
        """Return for each cone the claims that are alive and not proved on it; `sums` are those of `taken`.

        Claims that a corner of a cone shows to be false are given up first. No claim is about a fixed row.
        """
        corners, found = self.edges[0] == self.edges[1], [np.zeros(0, dtype=int)] * G.shape[1]
        for first, change in ((0, with_each), (self.n, without_each)):
            rows = np.flatnonzero(self.alive[first : first + self.n])
            if not rows.size:
                continue
            T = change(terms[:, :, rows], sums)
            T += self.margin
            holds = T[corners].max(axis=(0, 1)) <= self.level
            self.alive[first + rows[~holds]] = False
            cones, at = np.nonzero((self.level * G[:, :, None] < T).any(axis=0) & holds)
            if not cones.size:
                continue
            S = self.level * G[:, cones] - T[:, cones, at]
            wrong = ~(self.definite(S) | self.definite(np.where(corners[:, None], S, np.minimum(S, 0.0))))
            cones, claims = cones[wrong], first + rows[at[wrong]]
            numbers, starts = np.unique(cones, return_index=True)
            for one, own in zip(numbers, np.split(claims, starts[1:]), strict=False):  # none, or as many
                found[one] = np.concatenate((found[one], own))
        return found

    def definite(self, S: Array) -> np.ndarray:
        """Return which symmetric matrices with entries S (edges, matrices) are safely positive definite.

        Elimination runs on all matrices at once, each lowered by `distance` times the identity.
        """
        if not self.f.D:
            return S[0] >= 0
        at = {edge: i for i, edge in enumerate(zip(*(part.tolist() for part in self.edges), strict=True))}
        S, D = S.copy(), self.f.D
        good = np.ones(S.shape[1], dtype=bool)
        for i in range(D):
            S[at[i, i]] -= self.distance
        with np.errstate(all="ignore"):
            for i in range(D):
                pivot = S[at[i, i]]
                good &= pivot > 0
                for a in range(i + 1, D):
                    ratio = S[at[i, a]] / pivot
                    for b in range(a, D):
                        S[at[a, b]] -= ratio * S[at[i, b]]
        return good

    def split(self, cones: list[int]) -> list[int]:
        """Halve cones at the edge that weighs most in their bounds, and return the halves.

        A cone that is too deep to be split leaves its claims unproved.
        """
        halves: list[Array] = []
        for number in cones:
            cone = self.made[number]
            if self.f.D < 2 or np.abs(cone.generators).max() >= DEEPEST:
                self.alive[cone.failing] = False
                continue
            j, l = cone.edge.tolist()
            cone.code, cone.first = j * self.f.D + l, len(self.made) + len(halves)
            first, second = cone.generators.copy(), cone.generators.copy()
            first[j] = second[l] = cone.generators[j] + cone.generators[l]
            halves += [first, second]
        return self.add(np.array(halves)) if halves else []

    def tree(self, roots: int) -> np.ndarray:
        """Return the codes of the split trees in preorder; a cone with every claim proved is a leaf."""
        if not self.f.D:
            return np.zeros(0, dtype=np.uint8)
        codes, firsts = [cone.code for cone in self.made], [cone.first for cone in self.made]
        return preorder(roots, codes, firsts, lambda one: not self.alive[self.made[one].failing].any())


def with_each(terms: Array, sums: tuple[Array, ...]) -> Array:
    """Return for free terms (..., r) the largest sum that uses each: -inf for one that cannot be used.

    `sums` are those of `taken`. The first one has the fixed terms in any case.
    """
    T, last, _ = sums
    return T[..., None] - np.maximum(last[..., None] - terms, 0.0)


def without_each(terms: Array, sums: tuple[Array, ...]) -> Array:
    """Return for free terms (..., r) the largest sum that does not use each; `sums` are those of `taken`."""
    T, _, following = sums
    return T[..., None] - np.maximum(terms - following[..., None], 0.0)


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
    free.partition((n - room - 1, n - room), axis=-1)
    return T + free[..., n - room :].sum(axis=-1), free[..., n - room], free[..., n - room - 1]
