"""Bound the maximum of f with each row among the k, and without each row.

    f(c) = topk_i( p_i(c)^2 + h_i ) as in `cones`;  f+j: row j is among the k;  f-j: row j is not there

On a cone with T_gl = topk_i(p_ig p_il + h_i G_gl) the same sums for f+j and f-j are

    T+j = T - (k-th largest term - term of j)+,   T-j = T - (term of j - the next after the k largest)+

So one sorting serves all rows, and T+j, T-j bound f+j, f-j on the cone as T bounds f. A cover that proves the
maximum of f has cones too large for single rows to matter. Here all cones that reach a level of interest are
split until T is close to f at their corners.
Cost: O(n D^2) per cone, and a D x D factorisation for a row and cone that the entries alone do not prove.

`bounds.membership.sphere` calls `rows` for the witness of a certificate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import Array
from nspca.lowrank.forest import LEAF
from nspca.lowrank.objective import Query
from nspca.lowrank.terms import Terms, changed, definite, taken
from nspca.progress import Event, Report, silent

SPLIT_AT_ONCE = 256
"""Number of cones split before bounds are compared again; those with the largest bounds come first."""
STEP = 1e-6
"""First raise of a bound that is not proved yet, as a share of the largest bound; later raises double."""
DEEPEST = 2.0**50
"""Limit of the whole numbers in generators, so that sums of two generators are exact."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Bounds for every row of a query, and the cover that proves them.

    Attributes
    ----------
    upper : float
        Bound of f.
    having, lacking : (n,) float64
        Bounds of f+j and f-j, between the level of interest and `upper`; -inf where no such sum exists.
    tree : (codes,) uint8
        Codes of the cover, in preorder.
    cones : int
        Number of cones made.
    """

    upper: float
    having: Array
    lacking: Array
    tree: np.ndarray
    cones: int


def rows(query: Query, floors: Sequence[float], tol: float, cap: int, report: Report = silent) -> Rows:
    """Return bounds for every row, all from one cover.

    Parameters
    ----------
    query : Query
    floors : levels, decreasing
        Levels of interest. Cones with bounds below the first are not split. Once all cones above a level are
        tight, cones above the next level are split.
    tol : float
        A cone is tight when its bound is within this of f at a corner.
    cap : int
        Maximum number of cones.
    report : callable
        Gets an `Event` now and then; raises `Cancelled` to stop.
    """
    f = Terms(query)
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


class _Cover:
    """A split tree of cones, with the bound of each cone and the distance of the bound from f at a corner.

    Attributes
    ----------
    bound, off : (cones,) float64
        Bound of each cone, and its distance from the largest f at a corner; 0 where it cannot be split.
    codes, children : (cones,), (cones, 2) int
        Code of the split of each cone, and the numbers of its parts; -1 for a leaf.
    there : (cones,) bool
        False for cones below a split that was undone.
    roots : (roots,) int
        Numbers of the first cones.
    """

    def __init__(self, f: Terms, tol: float):
        self.f, self.tol = f, tol
        self.generators, self.codes = np.zeros((0, f.D, f.D)), np.zeros(0, dtype=int)
        self.children, self.edges = np.zeros((0, 2), dtype=int), np.zeros((0, 2), dtype=int)
        self.bound, self.off, self.there = np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool)
        self.roots = self.add(f.roots() if f.D else np.zeros((1, 0, 0)))

    @property
    def count(self) -> int:
        """Number of cones made, those below undone splits included."""
        return len(self.codes)

    @property
    def leaves(self) -> np.ndarray:
        """Return the numbers of the leaves; cones below a pruned split are not leaves."""
        return np.flatnonzero((self.codes == LEAF) & self.there)

    def open(self, floor: float) -> np.ndarray:
        """Return the numbers of the leaves with bounds above `floor` that are not tight."""
        return np.flatnonzero((self.bound > floor) & (self.off > self.tol) & (self.codes == LEAF))

    def add(self, generators: Array) -> np.ndarray:
        """Add cones with their own bounds, and return their numbers."""
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
        """Split each cone at the edge that weighs most in its bound."""
        g, (j, l), every = self.generators[nodes], self.edges[nodes].T, np.arange(len(nodes))
        middle, first, second = g[every, j] + g[every, l], g.copy(), g.copy()
        first[every, j] = second[every, l] = middle
        self.codes[nodes] = j * self.f.D + l
        self.children[nodes] = self.add(np.concatenate((first, second))).reshape(2, -1).T

    def prune(self) -> None:
        """Undo splits whose parts have a larger bound than the whole cone, which eigenvalue bounds allow."""
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
        """Return the codes of the split trees in preorder; there are none for D = 0."""
        codes, stack = [], list(self.roots[::-1]) if self.f.D else []
        while stack:
            node = stack.pop()
            codes.append(self.codes[node])
            if self.codes[node] != LEAF:
                stack += list(self.children[node][::-1])
        return np.array(codes, dtype=np.uint8)


def _each(f: Terms, cover: _Cover, upper: float, floor: float, report: Report) -> tuple[Array, Array]:
    """Return bounds of f+j and f-j for all rows, (n,) each, from the cones with bounds above `floor`.

    The bounds begin at the values at corners of cones, and are raised until they are proved on every cone.
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


def _raise(f: Terms, claim: Array, G: Array, T: Array, upper: float) -> None:
    """Raise the claims (n,) in place until they are proved on cones with G and T; `upper` needs no proof."""
    step = np.full(claim.size, STEP * max(abs(upper), f.margin))
    cones, features = np.nonzero((T + f.margin > claim * G[:, :, None]).any(axis=0) & (claim < upper))
    T, G = T[:, cones, features], G[:, cones]
    while cones.size:
        S = claim[features] * G - (T + f.margin)
        holds = (S >= 0).all(axis=0) | definite(S, f) | definite(f.without_positive(S), f)
        wrong = ~holds & (claim[features] < upper)
        cones, features, T, G = cones[wrong], features[wrong], T[:, wrong], G[:, wrong]
        raised = np.unique(features)
        claim[raised] = np.minimum(claim[raised] + step[raised], upper)
        step[raised] *= 2
