"""Find rows that must be taken, or cannot be, wherever f exceeds a level: the search half of fixing features.

    f(c) = topk_i( p_i(c)^2 + h_i );  f+j: row j is among the k;  f-j: row j is not there

Row j can be left out where f+j stays below the level in all directions, and must be taken where f-j does.
Both are proved cone by cone, from the sums T+j and T-j (`terms`). A direction at which f+j exceeds the level
ends the question about j at once, so only rows that may be fixed cost cones.

`bounds.fixing.stages` calls `fixed_rows` to fix features at a node. `bounds.fixing.branching` calls
`at_directions` to choose a feature. A *claim* is the statement about one row that is to be proved: that the
row is out, or in.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import Array
from nspca.lowrank.forest import LEAF, preorder
from nspca.lowrank.objective import Query
from nspca.lowrank.terms import Terms, changed, definite, taken
from nspca.progress import Event, Report, silent

SPLIT_AT_ONCE = 128
"""Number of cones split before claims are checked again; those with the largest bounds come first."""
FEW_ROWS, ROWS_EACH = 64, 8
"""The cap of cones holds for up to `FEW_ROWS` rows plus `ROWS_EACH` for each claim that is still possible.
With more rows it is lowered in proportion, because a cone costs as much as it has rows.
"""
DEEPEST = 2.0**50
"""Limit of the whole numbers in generators, so that sums of two generators are exact."""


@dataclass(frozen=True, eq=False)
class Fixed:
    """Rows that the cover proves to be out and in, as masks (n,).

    Attributes
    ----------
    out : (n,) bool
        f+j is at most the level.
    into : (n,) bool
        f-j is at most the level.
    tree : (codes,) uint8
        The cover that proves all of these rows.
    cones : int
        Number of cones made.
    """

    out: np.ndarray
    into: np.ndarray
    tree: np.ndarray
    cones: int


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
    return _reached(Terms(query), directions)


def _reached(f: Terms, directions: Array) -> tuple[Array, Array]:
    """Return the largest f+j and f-j (n,) over unit directions, for terms that exist already."""
    if f.nonneg:
        p = np.maximum(directions @ f.V.T, 0.0)
    else:
        p = np.abs(directions[:, : f.d] @ f.V[:, : f.d].T) + directions[:, f.d :] @ f.V[:, f.d :].T
    having, lacking = changed(p * p + f.h, f.fixed, f.room)
    return having.max(axis=0), lacking.max(axis=0)


class _Search:
    """State of one run of `fixed_rows`: cones in the order they were made, each with its unproved claims.

    Attributes
    ----------
    alive : (2n,) bool
        Claims that are left: the first n say that a row is out, the last n that it is in.
    codes, halves : list of int
        Code of the split of each cone, and the number of its first half; -1 for a leaf.
    failing : list of int arrays
        Numbers of the claims that are not proved on each cone.
    shallow : (cones,) bool
        Whether a cone may be split, since its generators are still exact.
    """

    def __init__(self, query: Query, level: float, wanted: tuple[np.ndarray, np.ndarray], cap: int):
        self.f, self.level, self.cap = Terms(query), level, cap
        n = self.f.n
        self.alive = np.concatenate(wanted)
        self.alive[n : n + self.f.fixed] = self.alive[: self.f.fixed] = False
        self.alive &= self.f.room > 0
        self.codes: list[int] = []
        self.halves: list[int] = []
        self.failing: list[np.ndarray] = []
        self.bound: list[float] = []
        self.generators = np.zeros((0, self.f.D, self.f.D))
        self.edges = np.zeros((0, 2), dtype=int)
        self.shallow = np.zeros(0, dtype=bool)

    def run(self, directions: Array, report: Report, least: int) -> Fixed:
        """Split cones until every claim that is left holds on each, or there are too many."""
        f = self.f
        if len(directions):
            self.rule_out(np.concatenate(_reached(f, directions)))
        if np.count_nonzero(self.alive) < least:
            self.alive[:] = False
        worth = (FEW_ROWS + ROWS_EACH * int(self.alive.sum())) / max(f.n, 1)
        self.cap, roots = int(self.cap * min(1.0, worth)), 0
        if self.alive.any():
            roots = len(self.add(f.roots() if f.D else np.zeros((1, 0, 0))))
            waiting = self.failed(range(roots))
            while waiting and self.alive.any() and len(self.codes) < self.cap:
                report(Event("features", len(self.codes), self.cap))
                waiting.sort(key=lambda one: -self.bound[one])
                taken_now, waiting = waiting[:SPLIT_AT_ONCE], waiting[SPLIT_AT_ONCE:]
                able = self.shallow[taken_now] & (f.D > 1)
                for one, can in zip(taken_now, able, strict=True):
                    if not can:
                        self.alive[self.failing[one]] = False
                halves = self.split([one for one, can in zip(taken_now, able, strict=True) if can])
                waiting = self.failed(waiting + halves)
            for one in waiting:
                self.alive[self.failing[one]] = False
        out, into = np.split(self.alive, 2)
        return Fixed(out & ~into, into, self.tree(roots), len(self.codes))

    def rule_out(self, reached: Array) -> None:
        """Give up claims whose f+j or f-j was `reached` (2n,) above the level."""
        self.alive &= reached + self.f.margin <= self.level

    def failed(self, cones: Iterable[int]) -> list[int]:
        """Return which of some cones have a claim that is left and not proved."""
        return [one for one in cones if self.codes[one] == LEAF and self.alive[self.failing[one]].any()]

    def add(self, generators: Array) -> range:
        """Make cones, and find the claims that are not proved on each."""
        f, first = self.f, len(self.codes)
        for piece in f.pieces(np.arange(len(generators))):
            G, terms = f.terms(generators[piece])
            T = taken(terms, f.fixed, f.room)[0]
            bounds, edges = f.bounds(G, T)
            self.bound += bounds.tolist()
            self.edges = np.concatenate((self.edges, edges))
            failing = [np.zeros(0, dtype=int)] * len(piece)
            above = np.flatnonzero(bounds > self.level)
            if above.size:
                for one, rows in zip(above, self.unproved(G[:, above], terms[:, above]), strict=True):
                    failing[one] = rows
            self.failing += failing
        count = len(generators)
        self.codes += [LEAF] * count
        self.halves += [-1] * count
        self.generators = np.concatenate((self.generators, generators))
        largest = np.abs(generators).max(axis=(1, 2), initial=0.0)
        self.shallow = np.append(self.shallow, largest < DEEPEST)
        return range(first, len(self.codes))

    def unproved(self, G: Array, terms: Array) -> list[np.ndarray]:
        """Return for each cone the claims that are alive and not proved on it.

        Claims that a corner of a cone shows to be false are given up first.
        """
        f, n = self.f, self.f.n
        corners = f.edges[0] == f.edges[1]
        both = changed(terms, f.fixed, f.room)
        self.rule_out(np.concatenate([part[corners].max(axis=(0, 1)) for part in both]))
        found: list[list[np.ndarray]] = [[] for _ in range(G.shape[1])]
        for half, part in enumerate(both):
            alive = np.flatnonzero(self.alive[half * n : (half + 1) * n])
            if not alive.size:
                continue
            T = part[:, :, alive] + f.margin
            cones, rows = np.nonzero((self.level * G[:, :, None] < T).any(axis=0))
            if not cones.size:
                continue
            S = self.level * G[:, cones] - T[:, cones, rows]
            wrong = ~(definite(S, f) | definite(f.without_positive(S), f))
            cones, rows = cones[wrong], alive[rows[wrong]] + half * n
            for one, own in zip(*_grouped(cones, rows), strict=True):
                found[one].append(own)
        return [np.concatenate(parts) if parts else np.zeros(0, dtype=int) for parts in found]

    def split(self, cones: list[int]) -> list[int]:
        """Halve each cone at the edge that weighs most in its bound, and return the halves."""
        if not cones:
            return []
        nodes = np.array(cones)
        g, (j, l), every = self.generators[nodes], self.edges[nodes].T, np.arange(len(nodes))
        first, second = g.copy(), g.copy()
        first[every, j] = second[every, l] = g[every, j] + g[every, l]
        made = self.add(np.stack((first, second), axis=1).reshape(-1, self.f.D, self.f.D))
        for one, node in enumerate(cones):
            self.codes[node] = int(j[one]) * self.f.D + int(l[one])
            self.halves[node] = made[2 * one]
        return list(made)

    def tree(self, roots: int) -> np.ndarray:
        """Return the codes of the split trees in preorder; a cone with every claim proved is a leaf."""
        if not self.f.D:
            return np.zeros(0, dtype=np.uint8)
        return preorder(roots, self.codes, self.halves, lambda one: not self.alive[self.failing[one]].any())


def _grouped(keys: np.ndarray, values: np.ndarray) -> tuple[list[int], list[np.ndarray]]:
    """Return the different keys, which must increase, and the array of values of each."""
    if not keys.size:
        return [], []
    ends = np.flatnonzero(np.diff(keys)) + 1
    return keys[np.append(0, ends)].tolist(), np.split(values, ends)
