"""The matrix on which nodes are bounded: A on the features that are left, small, dense and without the data.

A worker gets it once and needs neither the table nor the folder behind it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.node import Supports
from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array
from nspca.problem import Problem


class Part(Covariance):
    """A on some of its features, which keep their numbers.

    Attributes
    ----------
    features : (r,) int64, increasing
    held : (r, r)
        A on them, in unit scale.
    """

    def __init__(self, whole: Covariance, features: np.ndarray, held: Array):
        recipe = {name: getattr(whole, name) for name in ("source", "center", "scale", "digest", "exponent")}
        super().__init__(n=whole.n, shape=whole.shape, **recipe)
        self.features, self.held, self.nu, self.varying = features, held, whole.nu, whole.varies

    def _formed(self) -> Array:
        if len(self.features) < self.n:
            raise AssertionError("a part of A is not A")
        return self.held

    @property
    def varies(self) -> np.ndarray:
        """Tell whether each feature (n,) has a variance."""
        return self.varying

    def block(self, features: Any) -> Array:
        """Return A on some of the features held."""
        at = np.searchsorted(self.features, features)
        assert np.array_equal(self.features[at], features)  # nothing is known of others
        return self.held[np.ix_(at, at)]

    def columns(self, features: Any) -> Array:
        """Return the rows held of some columns of A."""
        return self.held[:, np.searchsorted(self.features, features)]


@dataclass(frozen=True, eq=False)
class Ground:
    """The features of a tree: those it keeps rows for, and others that are below a level everywhere.

    Attributes
    ----------
    problem : Problem
        On a `Part` of the matrix; forced features are left to the supports.
    outside : (q,) int64
        Usable features that no row is kept for.
    floor : float
        No entry of A in the rows of these is larger (signed: in absolute value).
    """

    problem: Problem
    outside: np.ndarray
    floor: float

    @classmethod
    def of(cls, problem: Problem, kept: Kept) -> "Ground":
        """Return the ground of a problem on some kept rows."""
        order = np.argsort(kept.features, kind="stable")
        features = kept.features[order].astype(np.int64)
        part = Part(problem.covariance, features, np.ascontiguousarray(kept.block[np.ix_(order, order)]))
        outside = np.setdiff1d(problem.usable, features).astype(np.int64)
        return cls(Problem(part, problem.size, problem.nonneg), outside, kept.floor)

    @property
    def part(self) -> Part:
        """The matrix of the problem."""
        assert isinstance(self.problem.covariance, Part)  # `of` puts it there
        return self.problem.covariance

    @cached_property
    def everything(self) -> np.ndarray:
        """All features a support may have, increasing."""
        return np.union1d(self.part.features, self.outside)

    def kept(self, supports: Supports) -> Kept:
        """Return the kept rows of a node: the features that are in, then the free ones that have rows."""
        free = supports.possible
        own = np.isin(free, self.outside, invert=True) if self.outside.size else np.ones(free.size, bool)
        rows = np.concatenate((supports.into, free[own])).astype(np.int64)
        outside = int(free.size - np.count_nonzero(own))
        block, fixed = self.part.block(rows), supports.into.size
        if rows.size == self.problem.n and not fixed:
            return Kept(None, block, 0.0)
        return Kept(rows, block, self.floor if outside else 0.0, free=outside, fixed=fixed)
