"""Best-first search over cones of the sphere: the exact optimum of a rank-d problem, with its proof.

    maximise  f(c) = topk_i( p_i(c)^2 + h_i )  over unit c,
    p_i(c) = (v_i'c)+   (signed: |u_i'c| + sqrt(tau) c_0)

Idea: cover the sphere by simplicial cones with generators g_1..g_D. On a cone p is convex and positively
homogeneous, so p_i(c) <= sum_j a_j p_i(g_j) for c = sum_j a_j g_j, a >= 0, and with G_jl = g_j'g_l and
T_jl = topk_i(p_ij p_il + h_i G_jl)

    max of f over the cone  <=  max of a'Ta over a >= 0 with a'Ga = 1,

which `objective` and `copositive` bound. The cone with the largest bound is split at the edge that makes the
bound large, until no bound exceeds the best value by more than the tolerance. The leaves are the proof, which
`Cover.tree` encodes.
Guarantee: `lower <= max f <= upper`; with h = 0 and tau = 0, max f is the optimum of VV'.
Cost: O(n D) per cone; the number of cones grows with D, not with n.
Source: docs/certificates.md; the function f is eq. 13 of Asteris et al. 2014.

`bounds.witness` proves search halves with `search`. The methods `cone` and `auto` find answers with it. The
page Spannogram draws it by `watch`.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import UNIT_ROUNDOFF, Array
from nspca.lowrank.objective import Cones, Halves, Objective, Query
from nspca.progress import Event, Report, silent

LEAF = 255
"""Code of a leaf in the split tree; other codes are j * D + l, so D is at most 15."""
REPORT_EVERY = 64
"""Minimum number of cones between two progress reports: a few milliseconds."""
SHARE = 0.05
"""Share of the distance between a bound and a known value that a search may leave open."""
BATCH, BATCH_SHARE = 64, 4
"""Cones split at once: at most `BATCH`, and at most one in `BATCH_SHARE` of the open cones."""
TERMS = 2**16
"""Maximum of rows times D for cones that are split together: their numbers fit into the processor cache."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Result of a search: bounds on max f, the best direction, and the split tree that proves `upper`.

    `direction` (D,) is a unit vector with f = `lower`. `tree` (codes,) has the codes of all trees in
    preorder. `cones` is the number of cones made, and `finished` is False where the cap stopped the search.
    """

    lower: float
    upper: float
    direction: Array
    tree: np.ndarray
    cones: int
    finished: bool


@dataclass(frozen=True, eq=False)
class Step:
    """A cone of a running search, passed to `report` so that a page can draw the search.

    `generators` (D, D) has a generator in each row. `parent` is the number of the cone that was split, -1 for
    a root. `upper` is the bound of this cone. `lower` and `ceiling` are the bounds on max f known when the
    cone was made. `open` tells whether the cone must be split further, as far as is known then.
    """

    number: int
    parent: int
    generators: Array
    upper: float
    lower: float
    ceiling: float
    open: bool


@dataclass(frozen=True)
class Budget:
    """Limits at which a search stops; `goal`, `hopeless` and `known` are about ``offset + max f``.

    Attributes
    ----------
    tol, offset : float
        Stop when ``offset + upper <= (1 + tol) * (offset + lower)``.
    goal : float
        An upper bound this low is good enough.
    hopeless : float
        Stop at a lower bound this high: a better bound is known elsewhere.
    known : float
        A value that some component reaches. The search may stop within `SHARE` of the distance to it.
    cap : int
        Maximum number of cones. A search stopped by it has `finished` False and a valid `upper`.
    """

    tol: float = 1e-3
    offset: float = 0.0
    goal: float = -np.inf
    hopeless: float = np.inf
    known: float = np.inf
    cap: int = 20000

    def target(self, lower: float) -> float:
        """Return the bound at or below which a cone need not be split once f has reached `lower`."""
        reached = self.offset + lower
        if reached >= self.hopeless:
            return np.inf
        near = reached + SHARE * (reached - self.known)
        return max((1 + self.tol) * reached, self.goal, near) - self.offset


USUAL = Budget()
"""Budget of a search whose caller names none."""


def search(
    query: Query,
    budget: Budget = USUAL,
    starts: Iterable[Array] = (),
    report: Report = silent,
    watch: Callable[[Step], object] | None = None,
) -> Cover:
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
    return _Search(Objective(query), budget, report, watch).run(starts)


def roots(D: int, extra: bool, nonneg: bool) -> list[tuple[int, ...]]:
    """Return the sign vectors of the orthants that a search covers.

    With `extra`, only c_0 >= 0 is covered, where c_0 is the last coordinate. Signed problems need half of the
    orthants, because f does not change with the sign of the other coordinates together.
    """
    signs = itertools.product((1, -1), repeat=D)
    half = 0 if not nonneg and extra < D else None
    return [s for s in signs if not (extra and s[-1] < 0) and not (half == 0 and s[0] < 0)]


class _Open:
    """Storage of the cones that may still be split, in arrays that grow.

    A row of `numbers` holds the generators, G, T and lengths of a cone, and `rows` its row numbers. `free`
    are the positions without a cone.
    """

    def __init__(self, D: int):
        self.D, self.numbers = D, np.empty((0, D * (3 * D + 1)))
        self.rows: dict[int, np.ndarray] = {}
        self.free: list[int] = []

    def put(self, cones: Halves | Cones, which: np.ndarray, rows: list[np.ndarray]) -> list[int]:
        """Store some cones and return their positions."""
        if len(self.free) < which.size:
            size = len(self.numbers)
            more = max(size, which.size, 64)
            self.numbers = np.vstack((self.numbers, np.empty((more, self.numbers.shape[1]))))
            self.free += range(size, size + more)
        places = [self.free.pop() for _ in range(which.size)]
        parts = (cones.generators, cones.G, cones.T, cones.lengths)
        self.numbers[places] = np.hstack([part[which].reshape(which.size, -1) for part in parts])
        self.rows |= zip(places, rows, strict=True)
        return places

    def take(self, places: list[int]) -> Cones:
        """Remove and return the cones at these positions."""
        D = self.D
        square, ends = (len(places), D, D), (D * D, 2 * D * D, 3 * D * D)
        generators, G, T, lengths = np.split(self.numbers[places], ends, axis=1)
        self.free += places
        rows = [self.rows.pop(place) for place in places]
        return Cones(generators.reshape(square), lengths, G.reshape(square), T.reshape(square), rows)


class _Search:
    """State of one run of `search`: the best value `lower` and its direction, and all cones made so far."""

    def __init__(
        self, objective: Objective, budget: Budget, report: Report, watch: Callable[[Step], object] | None
    ) -> None:
        self.f, self.budget, self.report, self.watch = objective, budget, report, watch
        self.lower, self.direction = -np.inf, np.zeros(objective.D)
        # For every cone by number: its own bound, the code of its split and the number of its first half.
        self.own: list[float] = []
        self.codes: list[int] = []
        self.halves: list[int] = []
        self.open, self.heap = _Open(objective.D), list[tuple[float, int, int]]()
        # aside: largest bound of cones that need not be split. top: largest of the others at the last batch.
        self.aside, self.top = -np.inf, np.inf

    @property
    def cones(self) -> int:
        """Number of cones made so far."""
        return len(self.own)

    @property
    def target(self) -> float:
        """Return the bound at or below which a cone need not be split.

        Bounds include the margin for rounding, so none can come closer to `lower` than that.
        """
        return max(self.budget.target(self.lower), self.lower + 2 * self.f.margin)

    @property
    def upper(self) -> float:
        """Return the largest bound of the cones that are left."""
        return max(self.aside, -self.heap[0][0] if self.heap else -np.inf)

    def climb(self, c: Array) -> None:
        """Ascend from direction c, and keep the best value: choose the k best rows, then their best
        direction.
        """
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

    def add(
        self,
        cones: Halves | Cones,
        own: Array,
        uppers: Array,
        remaining: Callable[[np.ndarray], list[np.ndarray]],
        parents: Iterable[int],
    ) -> None:
        """Number new cones and store those that may be split.

        Parameters
        ----------
        cones : Halves or Cones
        own, uppers : (c,) float64
            Bounds of the cones, and bounds of the cones that they were split from.
        remaining : callable
            ``remaining(which)`` returns the rows that matter in some of the cones.
        parents : iterable of int
            Numbers of the cones that they were split from, -1 for roots.
        """
        first, target = self.cones, self.target
        uppers = np.minimum(own, uppers)
        self.own += own.tolist()
        self.codes += [LEAF] * own.size
        self.halves += [0] * own.size
        still = np.flatnonzero(uppers > target)
        places = self.open.put(cones, still, remaining(still)) if still.size else []
        for place, which in zip(places, still.tolist(), strict=True):
            heapq.heappush(self.heap, (-float(uppers[which]), first + which, place))
        self.aside = max(self.aside, uppers[uppers <= target].max(initial=-np.inf))
        if self.watch:
            ceiling = max(self.top, self.aside)
            for one, (parent, upper) in enumerate(zip(parents, uppers.tolist(), strict=True)):
                step = (first + one, parent, cones.generators[one], upper, self.lower, ceiling)
                self.watch(Step(*step, upper > target))

    def begin(self) -> None:
        """Add the orthants as the first cones."""
        f = self.f
        signs = np.array(roots(f.D, f.extra, f.nonneg), dtype=float)
        cones, own = f.whole(signs[:, :, None] * np.eye(f.D))
        self.top = own.max()
        self.add(cones, own, own, lambda still: [cones.rows[i] for i in still], [-1] * own.size)

    def split(self) -> None:
        """Split a batch of the cones with the largest bounds, in pieces with about equal numbers of rows."""
        number = min(max(len(self.heap) // BATCH_SHARE, 1), BATCH, (self.budget.cap - self.cones + 1) // 2)
        taken: list[tuple[float, int, int]] = []
        target, self.top = self.target, -self.heap[0][0]
        while self.heap and len(taken) < number and -self.heap[0][0] > target:
            taken.append(heapq.heappop(self.heap))
        taken.sort(key=lambda one: (-self.open.rows[one[2]].size, one[1]))
        while taken:
            most = max(1, TERMS // (self.open.rows[taken[0][2]].size * self.f.D))
            piece, taken = taken[:most], taken[most:]
            self.halve(piece)

    def halve(self, taken: list[tuple[float, int, int]]) -> None:
        """Split the cones `taken` from the heap, and climb from the best middle of an edge if promising."""
        f, uppers = self.f, np.array([-upper for upper, _, _ in taken])
        halves = f.split(self.open.take([place for _, _, place in taken]))
        best = int(np.argmax(halves.value))
        if halves.value[best] > max(0.95 * self.lower, 2 * self.lower - uppers[best]):
            self.climb(halves.middle[best])
        parents = [number for _, number, _ in taken]
        for one, (number, (j, l)) in enumerate(zip(parents, halves.edges.tolist(), strict=True)):
            self.codes[number], self.halves[number] = j * f.D + l, self.cones + 2 * one
        own = f.bounds(halves.G, halves.T, self.target)
        self.add(
            halves, own, np.repeat(uppers, 2), lambda still: f.remaining(halves, still), np.repeat(parents, 2)
        )

    def run(self, starts: Iterable[Array]) -> Cover:
        """Search from the `starts` until the bounds are tight enough or the cap is reached."""
        f = self.f
        if f.D == 0:
            value = float(f.total(np.zeros(f.V.shape[0]) if f.h is None else f.h))
            upper = value * (1 + f.k * UNIT_ROUNDOFF)
            return Cover(value, upper, np.zeros(0), np.zeros(0, np.uint8), 0, True)
        axes = np.eye(f.D)
        signs = np.array(roots(f.D, f.extra, f.nonneg)[: 2**6]) / np.sqrt(f.D)
        for c in itertools.chain(starts, signs, axes, -axes):
            c = np.asarray(c, dtype=np.float64)
            self.climb(c if not f.extra or c[-1] >= 0 else -c)
        self.begin()
        reported, trees = 0, self.cones
        while self.heap and self.cones < self.budget.cap and -self.heap[0][0] > self.target:
            self.split()
            if self.cones - reported >= REPORT_EVERY:
                reported = self.cones
                self.report(Event("cones", reported, self.budget.cap, lower=self.lower, upper=self.upper))
        finished = not self.heap or -self.heap[0][0] <= self.target
        upper = max(self.upper, self.lower)
        return Cover(self.lower, float(upper), self.direction, self.tree(trees, upper), self.cones, finished)

    def tree(self, trees: int, upper: float) -> np.ndarray:
        """Return the codes of the split trees in preorder, without splits of cones whose own bound is enough.

        The first `trees` cones are the roots. A half can have a larger bound than its cone, so the tree is
        cut where a cone proves `upper` itself.
        """
        codes, stack = [], list(reversed(range(trees)))
        while stack:
            number = stack.pop()
            if self.codes[number] == LEAF or self.own[number] <= upper:
                codes.append(LEAF)
            else:
                codes.append(self.codes[number])
                stack += [self.halves[number] + 1, self.halves[number]]
        return np.array(codes, dtype=np.uint8)
