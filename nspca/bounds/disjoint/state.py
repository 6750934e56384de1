"""State of a node of the joint tree: which features each component must have and cannot have.

The joint tree is that of the search for the best disjoint components. A feature that a component must have is
called *in*, one that it cannot have *out*. `columns`, `pricing` and `search` work on states.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

NONE: frozenset[int] = frozenset()
"""Set without features."""


@dataclass(frozen=True)
class State:
    """Features in and out for each component.

    Attributes
    ----------
    sizes : tuple of int
    into, out : tuple of frozenset
        For each component the features that its set must have, and those that it cannot have.
    n : int
        Number of features.
    """

    sizes: tuple[int, ...]
    into: tuple[frozenset[int], ...]
    out: tuple[frozenset[int], ...]
    n: int

    @classmethod
    def root(cls, sizes: tuple[int, ...], n: int) -> "State":
        """Return the state in which nothing is in or out."""
        return cls(sizes, (NONE,) * len(sizes), (NONE,) * len(sizes), n)

    @property
    def classes(self) -> list[list[int]]:
        """Return the classes: lists of the components of equal size with equal features in and out."""
        found: dict[tuple[int, frozenset[int], frozenset[int]], list[int]] = {}
        for c, key in enumerate(zip(self.sizes, self.into, self.out, strict=True)):
            found.setdefault(key, []).append(c)
        return list(found.values())

    @property
    def is_impossible(self) -> bool:
        """Tell whether some component can have no set."""
        parts = zip(self.sizes, self.into, self.out, strict=True)
        return any(
            len(into) > size or bool(into & out) or (not into and len(out) == self.n)
            for size, into, out in parts
        )

    def free(self, c: int) -> np.ndarray:
        """Return the features (.,) that component c may have besides those it must have, increasing."""
        if len(self.into[c]) >= self.sizes[c]:
            return np.zeros(0, dtype=np.int64)
        mask = np.ones(self.n, dtype=bool)
        mask[list(self.into[c] | self.out[c])] = False
        return np.flatnonzero(mask)

    def must(self, c: int) -> np.ndarray:
        """Return the features (.,) that component c must have, increasing."""
        return np.array(sorted(self.into[c]), dtype=np.int64)

    def fix(self, c: int, out: Iterable[int], into: Iterable[int]) -> "State":
        """Return the state in which c has these features out and in; what is in is out of all others."""
        outs = tuple(own | (frozenset(out) if i == c else frozenset(into)) for i, own in enumerate(self.out))
        ins = tuple(own | frozenset(into) if i == c else own for i, own in enumerate(self.into))
        return replace(self, into=ins, out=outs)

    def holders(self, j: int) -> list[int]:
        """Return the first component of each class whose components may have feature j and need not."""
        return [
            c
            for c, *_ in self.classes
            if j not in self.into[c] | self.out[c] and len(self.into[c]) < self.sizes[c]
        ]

    def children(self, j: int) -> list["State"]:
        """Return the states with j in each of its holders, then the state with j out of every component."""
        with_j = [self.fix(c, (), (j,)) for c in self.holders(j)]
        return [*with_j, replace(self, out=tuple(out | {j} for out in self.out))]

    def holds(self, c: int, features: tuple[int, ...]) -> bool:
        """Tell whether a set of features is one that component c may have."""
        own = frozenset(features)
        return len(own) <= self.sizes[c] and self.into[c] <= own and not own & self.out[c]
