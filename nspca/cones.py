"""Best-first search over cones of the sphere: the exact optimum of a rank-d problem, with its proof.

    maximise  f(c) = topk_i( p_i(c)^2 + h_i )  over unit c,   p_i(c) = (v_i'c)+   (signed: |u_i'c| + lift * c_0)

Idea: cover the sphere by simplicial cones with generators g_1..g_D. On a cone p is convex and positively homogeneous,
so p_i(c) <= sum_j a_j p_i(g_j) for c = sum_j a_j g_j, a >= 0, and with G_jl = g_j'g_l, T_jl = topk_i(p_ij p_il + h_i G_jl)

    max of f over the cone  <=  min( max_jl T_jl / G_jl ,  lambda_max(T, G) ).

The cone with the largest bound is split at its longest edge until no bound exceeds the best value found by more than the
tolerance. The leaves are the proof: `Cover.tree` lets anybody walk them. Guarantee: `lower <= max f <= upper`; with h = 0
and no lift, max f is the optimum of VV'. Cost: O(n D) per cone; the number of cones grows with D, not with n.
Source: docs/certificates.md; the function f is eq. 13 of Asteris et al. 2014.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from nspca.linalg import UNIT_ROUNDOFF, Array, topk_indices, topk_sum
from nspca.progress import Event, silent

LEAF = 255
"""Code of a leaf in the split tree; other codes are j * D + l, so D is at most 15."""
REPORT_EVERY = 64
"""Cones between two reports: a few milliseconds."""
DROP_SHARE = 0.8
"""Rows are copied out of a cone when at most this share of them can still matter; copying for less costs more than it saves."""
SHARE = 0.05
"""Of the distance between a bound and a known value that a search may leave open."""
ROUNDING = 64
"""Unit roundoffs, times D and topk|v|^2, by which every bound is raised: what evaluating it here can lose."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Result of a search: bounds on max f, the best direction, and the split tree that proves the upper bound."""

    lower: float
    upper: float
    direction: Array
    tree: np.ndarray
    cones: int
    finished: bool


@dataclass(frozen=True, eq=False)
class Step:
    """One cone of a running search, for whoever watches: `parent` is the number of the cone it was split from, -1 for a root.

    `upper` is its own bound, `lower` and `ceiling` what is known of max f once it was made; `open` says whether it must
    be split further as far as is known then.
    """

    number: int
    parent: int
    generators: Array
    upper: float
    lower: float
    ceiling: float
    open: bool


@dataclass(frozen=True)
class Stop:
    """When the exact maximum is not needed, as bounds on ``offset + max f``.

    Attributes
    ----------
    goal : float
        An upper bound of this is good enough.
    hopeless : float
        So is a lower bound of this: somebody knows better.
    known : float
        A value that some component reaches; the distance of the maximum from it matters to `SHARE` only.
    """

    goal: float = -np.inf
    hopeless: float = np.inf
    known: float = np.inf

    def target(self, target: float, reached: float) -> float:
        if reached >= self.hopeless:
            return np.inf
        return max(target, self.goal, reached + SHARE * (reached - self.known))


NEVER = Stop()


@dataclass(eq=False)
class _Cone:
    generators: Array  # (D, D) integers, one generator a row
    lengths: Array  # (D,)
    active: np.ndarray | None  # rows that can be among the k largest somewhere in the cone; None: all
    linear: Array  # (D, active) v_i'g_j / |g_j|
    G: Array  # (D, D) Gram matrix of the unit generators
    T: Array  # (D, D)
    upper: float
    number: int = 0
    own: float = np.inf  # the bound of this cone itself; `upper` may be that of a cone around it
    children: tuple | None = None  # (j, l, child, child)


def search(
    V, k, *, h=None, lift=0.0, nonneg=True, tol=1e-3, offset=0.0, stop=NEVER, cap=20000, starts=(), forced=0, report=silent, watch=None
) -> Cover:
    """Maximise f over the sphere.

    Parameters
    ----------
    V : (n, d) float64
    k : int
    h : (n,) float64, optional
        Nonnegative constants added row by row; none for the plain rank-d problem.
    lift : float
        ``sqrt(tau)``: adds a coordinate ``c_0 >= 0`` in which every row has this entry.
    nonneg : bool
        Positive part of ``v_i'c``; otherwise its absolute value.
    tol, offset : float
        Stop when ``offset + upper <= (1 + tol) * (offset + lower)``.
    stop : Stop
        Other reasons to stop.
    cap : int
        Most cones to make; then `finished` is False and `upper` still valid.
    starts : iterable of (D,) directions
        Where to look for a good value before splitting (warm starts).
    forced : int
        The first so many rows are among the k, whatever their terms are (a node of a search over supports).
    report : callable
        Gets an `Event` every few cones; raises `Cancelled` to stop.
    watch : callable, optional
        Gets a `Step` for every cone made.

    Returns
    -------
    Cover
    """
    return _Search(np.asarray(V, dtype=np.float64), k, h, lift, nonneg, tol, offset, stop, cap, forced, report, watch).run(starts)


def roots(D: int, lifted: bool, nonneg: bool) -> list[tuple[int, ...]]:
    """Sign vectors of the orthants that must be covered: c_0 >= 0 suffices, and for signed problems c ~ -c."""
    signs = itertools.product((1, -1), repeat=D)
    half = 0 if not nonneg and lifted < D else None
    return [s for s in signs if not (lifted and s[-1] < 0) and not (half == 0 and s[0] < 0)]


class _Search:
    def __init__(self, V, k, h, lift, nonneg, tol, offset, stop, cap, forced, report, watch):
        n, d = V.shape
        self.forced = forced
        self.k, self.h, self.lift, self.nonneg = min(k, n), h, float(lift), nonneg
        self.lifted = lift > 0
        # In the nonnegative problem the extra coordinate is one more column; in the signed one it stays outside |.|.
        self.V = np.column_stack((V, np.full(n, self.lift))) if self.lifted and nonneg else V
        self.D = d + self.lifted
        self.tol, self.offset, self.stop, self.cap, self.report, self.watch = tol, offset, stop, cap, report, watch
        size = np.einsum("ij,ij->i", V, V) + self.lift**2
        self.margin = ROUNDING * UNIT_ROUNDOFF * max(self.D, 1) * float(topk_sum(size if h is None else size + h, self.k, forced))
        self.lower, self.direction, self.cones = -np.inf, np.zeros(self.D), 0

    # --- values -------------------------------------------------------------------------------------------------
    def rows(self, c):
        """p_i(c) for all rows."""
        if self.nonneg:
            return np.maximum(self.V @ c, 0.0)
        if self.lifted:
            return np.abs(self.V @ c[:-1]) + self.lift * c[-1]
        return np.abs(self.V @ c)

    def climb(self, c):
        """Monotone ascent from c: the k best rows at c, then the direction that serves them; keeps the best value."""
        value = -np.inf
        for _ in range(100):
            p = self.rows(c)
            terms = p * p if self.h is None else p * p + self.h
            keep = topk_indices(terms, self.k, self.forced)
            new = float(np.maximum(terms[keep], 0).sum())
            if new > self.lower:
                self.lower, self.direction = new, c
            if new <= value * (1 + 1e-12):
                break
            value = new
            gradient = self.V[keep].T @ (p[keep] if self.nonneg else p[keep] * np.sign(self.V[keep] @ c[: self.V.shape[1]]))
            if self.lifted and not self.nonneg:
                gradient = np.append(gradient, self.lift * p[keep].sum())
            length = np.linalg.norm(gradient)
            if length == 0:
                break
            c = gradient / length

    # --- bounds -------------------------------------------------------------------------------------------------
    def values(self, linear, unit):
        """p_ij at unit generators from their linear part; `unit` holds the generators' last coordinates."""
        if self.nonneg:
            return np.maximum(linear, 0.0)
        return np.abs(linear) + self.lift * unit[:, None] if self.lifted else np.abs(linear)

    def heights(self, active):
        return None if self.h is None else (self.h if active is None else self.h[active])

    def bound(self, cone):
        """The smaller of the two bounds of the module's docstring, raised by the rounding margin."""
        G, T = cone.G, cone.T
        simple = (T / G).max() if G.min() > 1e-12 else np.inf
        if simple <= self.target():
            return simple + self.margin
        # lambda_max(T, G) as its distance from the largest T_jj: in a small cone T is nearly that multiple of G, and the
        # difference keeps the digits that whitening by an ill-conditioned G would lose.
        base = T.diagonal().max()
        L = np.linalg.cholesky(G)
        half = np.linalg.solve(L, T - base * G)
        spectral = base + np.linalg.eigvalsh(np.linalg.solve(L, half.T))[-1]
        return min(simple, spectral) + self.margin

    def target(self):
        """A cone with this bound need not be split."""
        return self.stop.target((1 + self.tol) * (self.offset + self.lower), self.offset + self.lower) - self.offset

    def root(self, signs):
        generators = np.diag(np.array(signs, dtype=np.float64))
        cone = _Cone(generators, np.ones(self.D), None, None, np.eye(self.D), np.empty((self.D, self.D)), np.inf)
        sign = generators.diagonal() if self.nonneg or not self.lifted else generators.diagonal()[:-1]
        linear = (self.V * sign).T
        if self.lifted and not self.nonneg:
            linear = np.vstack((linear, np.zeros(self.V.shape[0])))
        cone.linear = np.ascontiguousarray(linear)
        P, h = self.values(cone.linear, generators[:, -1]), self.heights(None)
        for j in range(self.D):
            self.fill(cone, P, h, j)
        return self.finish(cone, P)

    def fill(self, cone, P, h, j):
        """Row and column j of T."""
        terms = P * P[j] if h is None else P * P[j] + h * cone.G[j][:, None]
        cone.T[j] = cone.T[:, j] = topk_sum(terms, self.k, self.forced)

    def finish(self, cone, P):
        cone.own = self.bound(cone)
        cone.upper = min(cone.upper, cone.own)
        cone.number = self.cones
        self.cones += 1
        if cone.upper > self.target():
            self.drop(cone, P)
        return cone

    def drop(self, cone, P):
        """Forget rows that at least k others beat everywhere in the cone; T of the rest is unchanged (h and G <= 1)."""
        if P.shape[1] <= self.k or self.forced == self.k:
            return
        most = P.max(axis=0) ** 2
        least = P.min(axis=0) ** 2
        if not self.nonneg:
            same = (cone.linear.min(axis=0) >= 0) | (cone.linear.max(axis=0) <= 0)
            flat = self.lift * (cone.generators[:, -1] / cone.lengths).min() if self.lifted else 0.0
            least = np.where(same, least, flat**2)
        h = self.heights(cone.active)
        if h is not None:
            if cone.G.min() <= 1e-12:
                return
            most, least = most / cone.G.min() + h, least + h
        kth = np.partition(least[self.forced :], least.size - self.k)[least.size - self.k]  # the (k - forced)-th largest of the others
        keep = most >= kth * (1 - 1e-12)
        keep[: self.forced] = True
        if keep.sum() < DROP_SHARE * keep.size:
            cone.active = np.flatnonzero(keep) if cone.active is None else cone.active[keep]
            cone.linear = np.ascontiguousarray(cone.linear[:, keep])

    def split(self, cone):
        """Two children at the midpoint of the longest edge; the midpoint may also be a good direction."""
        j, l = np.unravel_index(np.argmin(cone.G + np.eye(self.D) * 2), cone.G.shape)
        j, l = int(min(j, l)), int(max(j, l))
        middle = cone.generators[j] + cone.generators[l]
        length = np.linalg.norm(middle)
        linear = (cone.linear[j] * cone.lengths[j] + cone.linear[l] * cone.lengths[l]) / length
        self.look(cone, linear, middle / length)
        children = []
        for replaced in (j, l):
            generators, lengths = cone.generators.copy(), cone.lengths.copy()
            generators[replaced], lengths[replaced] = middle, length
            G = cone.G.copy()
            G[replaced] = G[:, replaced] = generators @ middle / (lengths * length)
            G[replaced, replaced] = 1.0
            parts = cone.linear.copy()
            parts[replaced] = linear
            child = _Cone(generators, lengths, cone.active, parts, G, cone.T.copy(), cone.upper)
            P = self.values(parts, generators[:, -1] / lengths)
            self.fill(child, P, self.heights(child.active), replaced)
            children.append(self.finish(child, P))
        cone.children = (j, l, *children)
        cone.linear = cone.active = None
        return children

    def look(self, cone, linear, c):
        """Start an ascent from c when its value comes near the best."""
        p = self.values(linear[None, :], c[-1:])[0]
        h = self.heights(cone.active)
        value = float(topk_sum(p * p if h is None else p * p + h, self.k, self.forced))
        if value > max(0.95 * self.lower, 2 * self.lower - cone.upper):
            self.climb(c)

    def show(self, parent, made, ceiling):
        for cone in made if self.watch else ():
            self.watch(Step(cone.number, parent, cone.generators, cone.upper, self.lower, ceiling, cone.upper > self.target()))

    # --- the search ---------------------------------------------------------------------------------------------
    def run(self, starts):
        if self.D == 0:
            value = float(topk_sum(np.zeros(self.V.shape[0]) if self.h is None else self.h, self.k, self.forced))
            return Cover(value, value * (1 + self.k * UNIT_ROUNDOFF), np.zeros(0), np.zeros(0, np.uint8), 0, True)
        signs = roots(self.D, self.lifted, self.nonneg)
        for c in itertools.chain(starts, np.array(signs[: 2**6]) / np.sqrt(self.D), np.eye(self.D), -np.eye(self.D)):
            c = np.asarray(c, dtype=np.float64)
            self.climb(c if not self.lifted or c[-1] >= 0 else -c)
        trees = [self.root(s) for s in signs]
        self.show(-1, trees, max(cone.upper for cone in trees))
        order = itertools.count()
        heap = [(-cone.upper, next(order), cone) for cone in trees]
        heapq.heapify(heap)
        aside, finished = -np.inf, True
        while heap:
            upper = -heap[0][0]
            if upper <= self.target() or self.cones >= self.cap:
                finished = upper <= self.target()
                break
            cone = heapq.heappop(heap)[2]
            children = self.split(cone)
            self.show(cone.number, children, max(upper, aside))
            for child in children:
                if child.upper > self.target():
                    heapq.heappush(heap, (-child.upper, next(order), child))
                else:
                    aside = max(aside, child.upper)
            if self.cones % REPORT_EVERY < 2:
                self.report(Event("cones", self.cones, self.cap, lower=self.lower, upper=max(upper, aside)))
        upper = max(aside, -heap[0][0] if heap else -np.inf, self.lower)
        return Cover(self.lower, float(upper), self.direction, _codes(trees, self.D, upper), self.cones, finished)


def _codes(trees, D, upper) -> np.ndarray:
    """Split trees of all roots in preorder, cut where a cone proves `upper` by itself: its parts need not."""
    codes, stack = [], list(reversed(trees))
    while stack:
        cone = stack.pop()
        if cone.children is None or cone.own <= upper:
            codes.append(LEAF)
        else:
            j, l, first, second = cone.children
            codes.append(j * D + l)
            stack += [second, first]
    return np.array(codes, dtype=np.uint8)
