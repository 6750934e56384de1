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
Source: docs/note.md, Theorem 2; the function f is eq. 13 of Asteris et al. 2014.

`bounds.witness` proves search halves with `search`. The methods `cone` and `auto` find answers with it. The
page Spannogram draws it by `watch`.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import UNIT_ROUNDOFF, Array
from nspca.lowrank.forest import Forest, OpenCone
from nspca.lowrank.objective import TERMS, Cones, Halves, Objective, Query
from nspca.progress import Event, Report, silent

REPORT_EVERY = 64
"""Minimum number of cones between two progress reports: a few milliseconds."""
SHARE = 0.05
"""Share of the distance between a bound and a known value that a search may leave open."""
BATCH, BATCH_SHARE = 64, 4
"""Cones split at once: at most `BATCH`, and at most one in `BATCH_SHARE` of the open cones."""
LONGEST_REST = 32
"""Maximum splits in a row without an ascent. After an ascent that found nothing better the next rest is twice
as long, as the best value is mostly found soon. Searches of 20 000 cones took a fifth less time.
"""
ASCENDING = 2**14
"""Maximum of rows times directions that ascend together: their numbers fit into the processor cache."""


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
        reached = self.offset + lower
        if reached >= self.hopeless:
            return np.inf
        near = reached + SHARE * (reached - self.known)
        return max((1 + self.tol) * reached, self.goal, near) - self.offset


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


def orthants(f: Objective) -> Array:
    """Return the generators (c, D, D) of the orthants that `roots` lists."""
    return np.array(roots(f.D, f.extra, f.nonneg), dtype=float)[:, :, None] * np.eye(f.D)


class _Search:
    """State of one run of `search`: the best value `lower` and its direction, and all cones `made` so far.

    `top` is the largest bound of the open cones before the last batch was split. `resting` counts the splits
    without an ascent that are left, of the last `rest` of them.
    """

    def __init__(
        self, objective: Objective, budget: Budget, report: Report, watch: Callable[[Step], object] | None
    ) -> None:
        self.f, self.budget, self.report, self.watch = objective, budget, report, watch
        self.lower, self.direction = -np.inf, np.zeros(objective.D)
        self.made, self.top = Forest(objective.D), np.inf
        self.rest = self.resting = 0

    @property
    def target(self) -> float:
        """Return the bound at or below which a cone need not be split.

        Bounds include the margin for rounding, so none can come closer to `lower` than that.
        """
        return max(self.budget.target(self.lower), self.lower + 2 * self.f.margin)

    def climb(self, C: Array) -> None:
        """Ascend from directions C (c, D): the k best rows, then their best direction; keep the best."""
        values = np.full(len(C), -np.inf)
        for _ in range(100):
            new, gradients = self.f.at(C)
            best = int(np.argmax(new))
            if new[best] > self.lower:
                self.lower, self.direction = float(new[best]), C[best].copy()
            lengths = np.linalg.norm(gradients, axis=1)
            rises = (new > values * (1 + 1e-12)) & (lengths > 0)
            if not rises.any():
                break
            values, C = new[rises], gradients[rises] / lengths[rises, None]

    def add(
        self,
        cones: Halves | Cones,
        own: Array,
        uppers: Array,
        remaining: Callable[[np.ndarray], list[np.ndarray]],
        parents: Iterable[int],
    ) -> None:
        """Add new cones to the forest, and show them to `watch`.

        Parameters
        ----------
        cones, own, remaining
            As for `Forest.add`.
        uppers : (c,) float64
            Bounds of the cones that they were split from.
        parents : iterable of int
            Numbers of the cones that they were split from, -1 for roots.
        """
        first, target = len(self.made), self.target
        uppers = np.minimum(own, uppers)
        self.made.add(cones, own, uppers, remaining, target)
        if self.watch:
            ceiling = max(self.top, self.made.aside)
            for one, (parent, upper) in enumerate(zip(parents, uppers.tolist(), strict=True)):
                step = (first + one, parent, cones.generators[one], upper, self.lower, ceiling)
                self.watch(Step(*step, upper > target))

    def begin(self) -> None:
        f = self.f
        cones, own = f.whole(orthants(f))
        self.top = own.max()
        self.add(cones, own, own, lambda still: [cones.rows[i] for i in still], [-1] * own.size)

    def split(self) -> None:
        """Split a batch of the cones with the largest bounds, in pieces with about equal numbers of rows."""
        made = self.made
        left = (self.budget.cap - len(made) + 1) // 2
        number = min(max(len(made.heap) // BATCH_SHARE, 1), BATCH, left)
        target, self.top = self.target, made.top
        taken = made.pop(number, target)
        taken.sort(key=lambda one: (-one[2].rows.size, one[1]))
        while taken:
            most = max(1, TERMS // (taken[0][2].rows.size * self.f.D))
            piece, taken = taken[:most], taken[most:]
            self.halve(piece)

    def halve(self, taken: list[OpenCone]) -> None:
        """Split the cones `taken` from the heap, and climb from the best middle of an edge if promising."""
        f, uppers = self.f, np.array([-upper for upper, _, _ in taken])
        cones = [cone for _, _, cone in taken]
        arrays = {
            name: np.array([getattr(cone, name) for cone in cones])
            for name in ("generators", "lengths", "G", "T")
        }
        halves = f.split(Cones(**arrays, rows=[cone.rows for cone in cones]))
        best = int(np.argmax(halves.value))
        self.resting -= 1
        if self.resting < 0 and halves.value[best] > max(0.95 * self.lower, 2 * self.lower - uppers[best]):
            before = self.lower
            self.climb(halves.middle[best : best + 1])
            self.rest = 0 if self.lower > before else min(2 * self.rest + 1, LONGEST_REST)
            self.resting = self.rest
        self.made.split(taken, halves.edges)
        own = f.bounds(halves.G, halves.T, self.target)
        parents = np.repeat([number for _, number, _ in taken], 2)
        self.add(halves, own, np.repeat(uppers, 2), lambda still: f.remaining(halves, still), parents)

    def run(self, starts: Iterable[Array]) -> Cover:
        """Search from the `starts` until the bounds are tight enough or the cap is reached."""
        f = self.f
        if f.D == 0:
            value = float(f.total(np.zeros(f.V.shape[0]) if f.h is None else f.h))
            upper = value * (1 + f.k * UNIT_ROUNDOFF)
            return Cover(value, upper, np.zeros(0), np.zeros(0, np.uint8), 0, True)
        axes = np.eye(f.D)
        signs = np.array(roots(f.D, f.extra, f.nonneg)[: 2**6]) / np.sqrt(f.D)
        C = np.array([*starts, *signs, *axes, *-axes], dtype=np.float64)
        C[(C[:, -1] < 0) & f.extra] *= -1
        together = max(1, ASCENDING // max(1, len(f.V)))
        for first in range(0, len(C), together):
            self.climb(C[first : first + together])
        self.begin()
        made = self.made
        trees = len(made)
        self.split_all()
        upper = max(made.upper, self.lower)
        tree, finished = made.tree(trees, upper), made.top <= self.target
        return Cover(self.lower, float(upper), self.direction, tree, len(made), finished)

    def split_all(self) -> None:
        made, reported = self.made, 0
        while len(made) < self.budget.cap and made.top > self.target:
            self.split()
            if len(made) - reported >= REPORT_EVERY:
                reported = len(made)
                self.tell()

    def tell(self) -> None:
        made = self.made
        self.report(Event("cones", len(made), self.budget.cap, lower=self.lower, upper=made.upper))
