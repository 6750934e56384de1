"""All cones that a search has made: the trees of their splits, and the cones that may still be split.

A `Forest` has a tree of splits for each orthant. Cones are numbered as they are made, and
the halves of a cone have consecutive numbers. `nspca.lowrank.cones` fills a forest and encodes it as a proof.
"""

import heapq
from collections.abc import Callable

import numpy as np

from nspca.covariance.linalg import Array
from nspca.lowrank.objective import Cones, Halves

LEAF = 255
"""Code of a leaf in the split tree. A cone split between its generators j and l has the code j * D + l, which
is below `LEAF` for D up to 15.
"""

OpenCone = tuple[float, int, int]
"""An open cone: minus its bound (a heap has the smallest first), its number, its place in the store."""


class ConeStore:
    """Storage of the cones that may still be split, in one array that grows.

    Attributes
    ----------
    arrays : (places, D * (3 * D + 1)) float64
        The generators, G, T and lengths of the cone at each place, as in `Cones`.
    rows : dict of int to ndarray
        The rows that matter in the cone at each place.
    free : list of int
        Places without a cone.
    """

    def __init__(self, D: int):
        self.D, self.arrays = D, np.empty((0, D * (3 * D + 1)))
        self.rows: dict[int, np.ndarray] = {}
        self.free: list[int] = []

    def put(self, cones: Halves | Cones, which: np.ndarray, rows: list[np.ndarray]) -> list[int]:
        """Store the cones `which` with their `rows`, and return their places."""
        if len(self.free) < which.size:
            size = len(self.arrays)
            more = max(size, which.size, 64)
            self.arrays = np.vstack((self.arrays, np.empty((more, self.arrays.shape[1]))))
            self.free += range(size, size + more)
        places = [self.free.pop() for _ in range(which.size)]
        parts = (cones.generators, cones.G, cones.T, cones.lengths)
        self.arrays[places] = np.hstack([part[which].reshape(which.size, -1) for part in parts])
        self.rows |= zip(places, rows, strict=True)
        return places

    def take(self, places: list[int]) -> Cones:
        """Remove and return the cones at these places."""
        D = self.D
        square, ends = (len(places), D, D), (D * D, 2 * D * D, 3 * D * D)
        generators, G, T, lengths = np.split(self.arrays[places], ends, axis=1)
        self.free += places
        rows = [self.rows.pop(place) for place in places]
        return Cones(generators.reshape(square), lengths, G.reshape(square), T.reshape(square), rows)


class Forest:
    """Cones by number, and those of them that may still be split.

    Attributes
    ----------
    own : list of float
        Bound of each cone by itself. A half can have a larger one than its cone, whose bound then holds.
    codes, first_halves : list of int
        Code of the split of each cone (`LEAF` for none), and the number of its first half.
    heap : list of OpenCone
        Cones that may still be split, the one with the largest bound first.
    aside : float
        Largest bound of the cones that need not be split; minus infinity without any.
    """

    def __init__(self, D: int):
        self.D, self.store = D, ConeStore(D)
        self.own: list[float] = []
        self.codes: list[int] = []
        self.first_halves: list[int] = []
        self.heap: list[OpenCone] = []
        self.aside = -np.inf

    def __len__(self) -> int:
        return len(self.own)

    @property
    def top(self) -> float:
        """Return the largest bound of the open cones, minus infinity without any."""
        return -self.heap[0][0] if self.heap else -np.inf

    @property
    def upper(self) -> float:
        """Return the largest bound of the cones that are left."""
        return max(self.aside, self.top)

    def add(
        self,
        cones: Halves | Cones,
        own: Array,
        uppers: Array,
        remaining: Callable[[np.ndarray], list[np.ndarray]],
        target: float,
    ) -> None:
        """Number new cones, and store those whose bound `uppers` is above the target.

        Parameters
        ----------
        cones : Halves or Cones
        own, uppers : (c,) float64
            Bounds of the cones by themselves, and their bounds with those that they were split from.
        remaining : callable
            ``remaining(which)`` returns the rows that matter in some of the cones.
        target : float
        """
        first = len(self)
        self.own += own.tolist()
        self.codes += [LEAF] * own.size
        self.first_halves += [0] * own.size
        still = np.flatnonzero(uppers > target)
        if still.size:
            self.push(cones, still, remaining(still), uppers[still], first + still)
        self.aside = max(self.aside, uppers[uppers <= target].max(initial=-np.inf))

    def push(
        self,
        cones: Halves | Cones,
        which: np.ndarray,
        rows: list[np.ndarray],
        uppers: Array,
        numbers: np.ndarray,
    ) -> None:
        """Store some cones as open ones, with their bounds and numbers."""
        places = self.store.put(cones, which, rows)
        for upper, number, place in zip(uppers.tolist(), numbers.tolist(), places, strict=True):
            heapq.heappush(self.heap, (-upper, number, place))

    def pop(self, most: int, target: float) -> list[OpenCone]:
        """Remove the open cones with the largest bounds above a target, at most `most`."""
        taken: list[OpenCone] = []
        while self.heap and len(taken) < most and self.top > target:
            taken.append(heapq.heappop(self.heap))
        return taken

    def cones_of(self, taken: list[OpenCone]) -> Cones:
        """Return the cones that were removed from the heap, and free their places."""
        return self.store.take([place for _, _, place in taken])

    def split(self, taken: list[OpenCone], edges: np.ndarray) -> None:
        """Note at which edge each of these cones is split; their halves are added next."""
        for one, ((_, number, _), (j, l)) in enumerate(zip(taken, edges.tolist(), strict=True)):
            self.codes[number], self.first_halves[number] = j * self.D + l, len(self) + 2 * one

    # --- the proof ------------------------------------------------------------------------------------------
    def tree(self, trees: int, upper: float) -> np.ndarray:
        """Return the codes of the split trees in preorder, without splits of cones whose own bound is enough.

        The first `trees` cones are the roots. A half can have a larger bound than its cone, so the tree is
        cut where a cone proves `upper` itself.
        """
        return preorder(trees, self.codes, self.first_halves, lambda number: self.own[number] <= upper)


def preorder(
    trees: int, codes: list[int], first_halves: list[int], is_proved: Callable[[int], bool]
) -> np.ndarray:
    """Return the codes of split trees in preorder; the first `trees` cones are the roots.

    A cone that is proved becomes a leaf, whatever it was split into.
    """
    written, stack = [], list(reversed(range(trees)))
    while stack:
        number = stack.pop()
        if codes[number] == LEAF or is_proved(number):
            written.append(LEAF)
        else:
            written.append(codes[number])
            stack += [first_halves[number] + 1, first_halves[number]]
    return np.array(written, dtype=np.uint8)
