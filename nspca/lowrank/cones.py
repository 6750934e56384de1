"""Best-first search over cones of the sphere: the exact optimum of a rank-d problem, with its proof.

    maximise  f(c) = topk_i( p_i(c)^2 + h_i )  over unit c,
    p_i(c) = (v_i'c)+   (signed: |u_i'c| + sqrt(tau) c_0)

Idea: cover the sphere by simplicial cones with generators g_1..g_D. On a cone p is convex and positively
homogeneous, so p_i(c) <= sum_j a_j p_i(g_j) for c = sum_j a_j g_j, a >= 0, and with G_jl = g_j'g_l and
T_jl = topk_i(p_ij p_il + h_i G_jl)

    max of f over the cone  <=  min( max_jl T_jl / G_jl ,  lambda_max(T, G) ).

The cone with the largest bound is split at its longest edge until no bound exceeds the best value found by
more than the tolerance. The leaves are the proof: `Cover.tree` lets anybody walk them.
Guarantee: `lower <= max f <= upper`; with h = 0 and tau = 0, max f is the optimum of VV'.
Cost: O(n D) per cone; the number of cones grows with D, not with n.
Source: docs/certificates.md; the function f is eq. 13 of Asteris et al. 2014.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from nspca.matrix.linalg import UNIT_ROUNDOFF, Array, topk_indices, topk_sum
from nspca.progress import Event, Report, silent

LEAF = 255
"""Code of a leaf in the split tree; other codes are j * D + l, so D is at most 15."""
REPORT_EVERY = 64
"""Cones between two reports: a few milliseconds."""
DROP_SHARE = 0.8
"""Rows are copied out of a cone when at most this share can matter; for less it does not pay."""
SHARE = 0.05
"""Of the distance between a bound and a known value that a search may leave open."""
ROUNDING = 64
"""Unit roundoffs, times D and topk|v|^2, by which every bound is raised: what evaluating it here can lose."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Result of a search: bounds on max f, the best direction, and the split tree that proves `upper`."""

    lower: float
    upper: float
    direction: Array
    tree: np.ndarray
    cones: int
    finished: bool


@dataclass(frozen=True, eq=False)
class Step:
    """One cone of a running search, for whoever watches.

    `parent` is the number of the cone it was split from, -1 for a root; `upper` is its own bound, `lower` and
    `ceiling` what is known of max f once it was made; `open` says whether it must be split further as far as
    is known then.
    """

    number: int
    parent: int
    generators: Array
    upper: float
    lower: float
    ceiling: float
    open: bool


@dataclass(frozen=True, eq=False)
class Query:
    """What is maximised.

    Attributes
    ----------
    V : (n, d) float64
    k : int
    h : (n,) float64, optional
        Constants added row by row; none for the plain rank-d problem. Negative ones, of rows that have a
        price, only with no row fixed.
    tau : float
        When positive, adds a coordinate ``c_0 >= 0`` in which every row has the entry ``sqrt(tau)``.
    nonneg : bool
        Positive part of ``v_i'c``; otherwise its absolute value.
    fixed : int
        The first so many rows are among the k, whatever their terms are (a node of a search over supports).
    """

    V: Array
    k: int
    h: Array | None = None
    tau: float = 0.0
    nonneg: bool = True
    fixed: int = 0


@dataclass(frozen=True)
class Budget:
    """When a search stops; `goal`, `hopeless` and `known` are about ``offset + max f``.

    Attributes
    ----------
    tol, offset : float
        Stop when ``offset + upper <= (1 + tol) * (offset + lower)``.
    goal : float
        An upper bound of this is good enough.
    hopeless : float
        So is a lower bound of this: somebody knows better.
    known : float
        A value that some component reaches; the distance of the maximum from it matters to `SHARE` only.
    cap : int
        Most cones to make; then `finished` is False and `upper` still valid.
    """

    tol: float = 1e-3
    offset: float = 0.0
    goal: float = -np.inf
    hopeless: float = np.inf
    known: float = np.inf
    cap: int = 20000

    def target(self, lower: float) -> float:
        """A cone with this bound need not be split once f has reached `lower`."""
        reached = self.offset + lower
        if reached >= self.hopeless:
            return np.inf
        near = reached + SHARE * (reached - self.known)
        return max((1 + self.tol) * reached, self.goal, near) - self.offset


USUAL = Budget()


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


def search(query: Query, budget: Budget = USUAL, starts=(), report: Report = silent, watch=None) -> Cover:
    """Maximise f over the sphere.

    Parameters
    ----------
    query : Query
    budget : Budget
    starts : iterable of (D,) directions
        Where to look for a good value before splitting (warm starts).
    report : callable
        Gets an `Event` every few cones; raises `Cancelled` to stop.
    watch : callable, optional
        Gets a `Step` for every cone made.

    Returns
    -------
    Cover
    """
    return _Search(_Objective(query), budget, report, watch).run(starts)


def roots(D: int, extra: bool, nonneg: bool) -> list[tuple[int, ...]]:
    """Sign vectors of the orthants to cover: of `extra` c_0 only c_0 >= 0; signed problems have c ~ -c."""
    signs = itertools.product((1, -1), repeat=D)
    half = 0 if not nonneg and extra < D else None
    return [s for s in signs if not (extra and s[-1] < 0) and not (half == 0 and s[0] < 0)]


class _Objective:
    """f at a direction, and what bounds it on a cone."""

    def __init__(self, query: Query):
        V = np.asarray(query.V, dtype=np.float64)
        n, d = V.shape
        self.k, self.h, self.nonneg, self.fixed = min(query.k, n), query.h, query.nonneg, query.fixed
        self.root_tau, self.extra = float(np.sqrt(query.tau)), query.tau > 0
        # Nonnegative: the extra coordinate is one more column; signed: it stays outside |.|.
        self.V = np.column_stack((V, np.full(n, self.root_tau))) if self.extra and self.nonneg else V
        self.D = d + self.extra
        size = np.einsum("ij,ij->i", V, V) + self.root_tau**2
        size = size if self.h is None else size + np.abs(self.h)
        self.margin = ROUNDING * UNIT_ROUNDOFF * max(self.D, 1) * self.total(size)

    def total(self, terms):
        """The sum of the k largest."""
        return float(topk_sum(terms, self.k, self.fixed))

    # --- at a direction -------------------------------------------------------------------------------------
    def rows(self, c):
        """p_i(c) for all rows."""
        if self.nonneg:
            return np.maximum(self.V @ c, 0.0)
        if self.extra:
            return np.abs(self.V @ c[:-1]) + self.root_tau * c[-1]
        return np.abs(self.V @ c)

    def at(self, c):
        """f(c), p(c) and the k rows that give f."""
        p = self.rows(c)
        terms = p * p if self.h is None else p * p + self.h
        keep = topk_indices(terms, self.k, self.fixed)
        keep = keep[terms[keep] >= 0]
        return float(terms[keep].sum()), p, keep

    def gradient(self, c, p, keep):
        """The direction that serves these rows best, not of unit length."""
        inside = p[keep] if self.nonneg else p[keep] * np.sign(self.V[keep] @ c[: self.V.shape[1]])
        gradient = self.V[keep].T @ inside
        if self.extra and not self.nonneg:
            gradient = np.append(gradient, self.root_tau * p[keep].sum())
        return gradient

    def value(self, cone, linear, c):
        """f(c) inside a cone, from the linear part of its rows at c."""
        p, h = self.values(linear[None, :], c[-1:])[0], self.heights(cone)
        return self.total(p * p if h is None else p * p + h)

    # --- on a cone ------------------------------------------------------------------------------------------
    def values(self, linear, last):
        """p_ij at unit generators from their linear part and their last coordinates."""
        if self.nonneg:
            return np.maximum(linear, 0.0)
        return np.abs(linear) + self.root_tau * last[:, None] if self.extra else np.abs(linear)

    def heights(self, cone):
        return None if self.h is None else (self.h if cone.active is None else self.h[cone.active])

    def root(self, signs):
        """The cone of an orthant, without its bound, and p_ij."""
        generators, D = np.diag(np.array(signs, dtype=np.float64)), self.D
        sign = generators.diagonal() if self.nonneg or not self.extra else generators.diagonal()[:-1]
        linear = (self.V * sign).T
        if self.extra and not self.nonneg:
            linear = np.vstack((linear, np.zeros(self.V.shape[0])))
        linear = np.ascontiguousarray(linear)
        cone = _Cone(generators, np.ones(D), None, linear, np.eye(D), np.empty((D, D)), np.inf)
        P = self.values(linear, generators[:, -1])
        for j in range(D):
            self.fill(cone, P, j)
        return cone, P

    def half(self, cone, replaced, middle, length, linear):
        """The part of a cone in which `middle` stands for one generator, without its bound, and p_ij."""
        generators, lengths = cone.generators.copy(), cone.lengths.copy()
        generators[replaced], lengths[replaced] = middle, length
        G = cone.G.copy()
        G[replaced] = G[:, replaced] = generators @ middle / (lengths * length)
        G[replaced, replaced] = 1.0
        parts = cone.linear.copy()
        parts[replaced] = linear
        child = _Cone(generators, lengths, cone.active, parts, G, cone.T.copy(), cone.upper)
        P = self.values(parts, generators[:, -1] / lengths)
        self.fill(child, P, replaced)
        return child, P

    def fill(self, cone, P, j):
        """Row and column j of T."""
        h = self.heights(cone)
        terms = P * P[j] if h is None else P * P[j] + h * cone.G[j][:, None]
        cone.T[j] = cone.T[:, j] = topk_sum(terms, self.k, self.fixed)

    def bound(self, cone, enough):
        """The smaller of the two bounds above, or the first if it is `enough`, raised by the margin."""
        G, T = cone.G, cone.T
        simple = (T / G).max() if G.min() > 1e-12 else np.inf
        if simple <= enough:
            return simple + self.margin
        # lambda_max(T, G) as its distance from the largest T_jj: in a small cone T is nearly that multiple of
        # G, and the difference keeps the digits that whitening by an ill-conditioned G would lose.
        base = T.diagonal().max()
        try:
            L = np.linalg.cholesky(G)
        except (
            np.linalg.LinAlgError
        ):  # so narrow that its generators are one to rounding: the ratios are the bound
            return simple + self.margin
        half = np.linalg.solve(L, T - base * G)
        spectral = base + np.linalg.eigvalsh(np.linalg.solve(L, half.T))[-1]
        return min(simple, spectral) + self.margin

    def drop(self, cone, P):
        """Forget rows that at least k others beat everywhere in the cone; T stays as it is (h and G <= 1)."""
        if P.shape[1] <= self.k or self.fixed == self.k:
            return
        most = P.max(axis=0) ** 2
        least = P.min(axis=0) ** 2
        if not self.nonneg:
            same = (cone.linear.min(axis=0) >= 0) | (cone.linear.max(axis=0) <= 0)
            flat = self.root_tau * (cone.generators[:, -1] / cone.lengths).min() if self.extra else 0.0
            least = np.where(same, least, flat**2)
        h = self.heights(cone)
        if h is not None:
            if cone.G.min() <= 1e-12:
                return
            most, least = most / cone.G.min() + h, least + h
        # the (k - fixed)-th largest of the others
        kth = np.partition(least[self.fixed :], least.size - self.k)[least.size - self.k]
        keep = most >= kth * (1 - 1e-12)
        keep[: self.fixed] = True
        if keep.sum() < DROP_SHARE * keep.size:
            cone.active = np.flatnonzero(keep) if cone.active is None else cone.active[keep]
            cone.linear = np.ascontiguousarray(cone.linear[:, keep])


class _Search:
    def __init__(self, objective, budget, report, watch):
        self.f, self.budget, self.report, self.watch = objective, budget, report, watch
        self.lower, self.direction, self.cones = -np.inf, np.zeros(objective.D), 0

    @property
    def target(self):
        """A cone with this bound need not be split; none falls below what is reached by less than the margin
        that rounding takes.
        """
        return max(self.budget.target(self.lower), self.lower + 2 * self.f.margin)

    def climb(self, c):
        """Monotone ascent from c: the k best rows, the direction that serves them; the best value is kept."""
        value = -np.inf
        for _ in range(100):
            new, p, keep = self.f.at(c)
            if new > self.lower:
                self.lower, self.direction = new, c
            if new <= value * (1 + 1e-12):
                break
            value = new
            gradient = self.f.gradient(c, p, keep)
            length = np.linalg.norm(gradient)
            if length == 0:
                break
            c = gradient / length

    def made(self, cone, P):
        """A cone with its bound and its number."""
        cone.own = self.f.bound(cone, self.target)
        cone.upper = min(cone.upper, cone.own)
        cone.number = self.cones
        self.cones += 1
        if cone.upper > self.target:
            self.f.drop(cone, P)
        return cone

    def split(self, cone):
        """Two children at the midpoint of the longest edge; the midpoint may also be a good direction."""
        j, l = sorted(map(int, np.unravel_index(np.argmin(cone.G + np.eye(self.f.D) * 2), cone.G.shape)))
        middle = cone.generators[j] + cone.generators[l]
        length = np.linalg.norm(middle)
        linear = (cone.linear[j] * cone.lengths[j] + cone.linear[l] * cone.lengths[l]) / length
        value = self.f.value(cone, linear, middle / length)
        if value > max(0.95 * self.lower, 2 * self.lower - cone.upper):
            self.climb(middle / length)
        children = [self.made(*self.f.half(cone, replaced, middle, length, linear)) for replaced in (j, l)]
        cone.children = (j, l, *children)
        cone.linear = cone.active = None
        return children

    def show(self, parent, made, ceiling):
        for cone in made if self.watch else ():
            still = cone.upper > self.target
            self.watch(Step(cone.number, parent, cone.generators, cone.upper, self.lower, ceiling, still))

    def run(self, starts):
        f = self.f
        if f.D == 0:
            value = f.total(np.zeros(f.V.shape[0]) if f.h is None else f.h)
            upper = value * (1 + f.k * UNIT_ROUNDOFF)
            return Cover(value, upper, np.zeros(0), np.zeros(0, np.uint8), 0, True)
        signs = roots(f.D, f.extra, f.nonneg)
        axes = np.eye(f.D)
        for c in itertools.chain(starts, np.array(signs[: 2**6]) / np.sqrt(f.D), axes, -axes):
            c = np.asarray(c, dtype=np.float64)
            self.climb(c if not f.extra or c[-1] >= 0 else -c)
        trees = [self.made(*f.root(s)) for s in signs]
        self.show(-1, trees, max(cone.upper for cone in trees))
        order = itertools.count()
        heap = [(-cone.upper, next(order), cone) for cone in trees]
        heapq.heapify(heap)
        aside, finished = -np.inf, True
        while heap:
            upper = -heap[0][0]
            if upper <= self.target or self.cones >= self.budget.cap:
                finished = upper <= self.target
                break
            cone = heapq.heappop(heap)[2]
            children = self.split(cone)
            self.show(cone.number, children, max(upper, aside))
            for child in children:
                if child.upper > self.target:
                    heapq.heappush(heap, (-child.upper, next(order), child))
                else:
                    aside = max(aside, child.upper)
            if self.cones % REPORT_EVERY < 2:
                upper = max(upper, aside)
                self.report(Event("cones", self.cones, self.budget.cap, lower=self.lower, upper=upper))
        upper = max(aside, -heap[0][0] if heap else -np.inf, self.lower)
        codes = _codes(trees, f.D, upper)
        return Cover(self.lower, float(upper), self.direction, codes, self.cones, finished)


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
