"""All cones that a search has made: the trees of their splits, and the cones that may still be split.

A `Forest` has a tree of splits for each orthant. Cones are numbered as they are made, and
the halves of a cone have consecutive numbers. `nspca.lowrank.cones` fills a forest and encodes it as a proof.
"""

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nspca.covariance.linalg import Array
from nspca.lowrank.objective import Cones, Halves

LEAF = 255
"""Code of a leaf in the split tree. A cone split between its generators j and l has the code j * D + l, which
is below `LEAF` for D up to 15.
"""


class Cone(NamedTuple):
    """One cone that may still be split: its arrays, as in `Cones`, and the rows that matter in it."""

    generators: Array
    lengths: Array
    G: Array
    T: Array
    rows: np.ndarray


OpenCone = tuple[float, int, Cone]
"""An open cone: minus its bound (a heap has the smallest first), its number, and the cone."""


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
        self.D = D
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
        for one, rows in zip(still.tolist(), remaining(still) if still.size else (), strict=True):
            # copies, as views would hold the arrays of all `cones`
            generators, lengths = cones.generators[one].copy(), cones.lengths[one].copy()
            cone = Cone(generators, lengths, cones.G[one].copy(), cones.T[one].copy(), rows)
            heapq.heappush(self.heap, (-float(uppers[one]), first + one, cone))
        self.aside = max(self.aside, uppers[uppers <= target].max(initial=-np.inf))

    def pop(self, most: int, target: float) -> list[OpenCone]:
        """Remove the open cones with the largest bounds above a target, at most `most`."""
        taken: list[OpenCone] = []
        while self.heap and len(taken) < most and self.top > target:
            taken.append(heapq.heappop(self.heap))
        return taken

    def split(self, taken: list[OpenCone], edges: np.ndarray) -> None:
        """Note at which edge each of these cones is split; their halves are added next."""
        for one, ((_, number, _), (j, l)) in enumerate(zip(taken, edges.tolist(), strict=True)):
            self.codes[number], self.first_halves[number] = j * self.D + l, len(self) + 2 * one

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
