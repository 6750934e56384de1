"""The part of A that the nodes of a tree are bounded on: a small dense matrix without the data.

A `FixingTree` has one `Ground` for all its nodes. It is sent to each worker once, so that workers need
neither the table nor its folder.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.node import Supports
from nspca.bounds.fixing.squares import eliminated
from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array
from nspca.problem import Problem


class Part(Covariance):
    """A covariance of which only the block of some features is known; the features keep their numbers.

    Attributes
    ----------
    features : (r,) int64, increasing
    held : (r, r)
        The block of A for these features, in unit scale.
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
        return self.varying

    def block(self, features: Any) -> Array:
        at = np.searchsorted(self.features, features)
        assert np.array_equal(self.features[at], features)  # other features are not known
        return self.held[np.ix_(at, at)]

    def restrict(self, features: Any) -> Covariance:
        return self._as_matrix(self.block(features), nu=self.nu)

    def columns(self, features: Any) -> Array:
        """Return columns of A for some known features (p,), on the rows of all known features: (r, p)."""
        return self.held[:, np.searchsorted(self.features, features)]


@dataclass(frozen=True, eq=False)
class Ground:
    """The problem of a tree on the features with kept rows, and the features without, with a floor for them.

    Attributes
    ----------
    problem : Problem
        A problem on a `Part` of the matrix, without forced features: those are in the supports of the nodes.
    outside : (q,) int64
        Usable features without a kept row.
    floor : float
        Largest entry of A (signed: absolute value) in the rows of the features `outside`.
    prices : (n,) float64, or None
        Price that a support pays for each feature; 0 for those without rows.
    base : Ground or None
        The ground whose features have been eliminated, if any.
    margin : float
        At least what the rounding errors of eliminating them may add to a bound.
    level : float
        Level at which they were eliminated; 0 if none were.
    smallest : bool
        Whether only the smallest sets above the level count, of nonnegative components (`answers`).
    """

    problem: Problem
    outside: np.ndarray
    floor: float
    prices: Array | None = None
    base: "Ground | None" = None
    margin: float = 0.0
    level: float = 0.0
    smallest: bool = False

    @property
    def whole(self) -> "Ground":
        """The ground before any feature was eliminated."""
        return self if self.base is None else self.base

    def reduced(self, gone: np.ndarray, free: np.ndarray, v: float) -> "Ground | None":
        """Return the ground of the free features after others are eliminated at level v (`reduction`).

        None where ``v I - A`` is not positive definite on `gone`, or where features have prices or no rows.
        """
        whole, part = self.whole, self.whole.part
        if self.prices is not None or np.isin(free, whole.outside).any():
            return None
        block = part.block(np.concatenate((gone, free)))
        C, margin = eliminated(
            block, gone.size, v, part.shape[0] if part.source == "data" else 1, whole.problem.nonneg
        )
        if C is None:
            return None
        problem = Problem(Part(part, free, C), whole.problem.size - gone.size, whole.problem.nonneg)
        return Ground(problem, whole.outside[:0], 0.0, base=whole, margin=margin, level=v)

    @classmethod
    def of(cls, problem: Problem, kept: Kept, prices: Array | None = None) -> "Ground":
        """Return the ground of a problem on some kept rows."""
        order = np.argsort(kept.features, kind="stable")
        features = kept.features[order].astype(np.int64)
        part = Part(problem.covariance, features, np.ascontiguousarray(kept.block[np.ix_(order, order)]))
        outside = np.setdiff1d(problem.usable, features).astype(np.int64)
        return cls(Problem(part, problem.size, problem.nonneg), outside, kept.floor, prices)

    @property
    def part(self) -> Part:
        assert isinstance(self.problem.covariance, Part)  # set by `of`
        return self.problem.covariance

    @cached_property
    def everything(self) -> np.ndarray:
        """Numbers of all features that a support may have, increasing."""
        return np.union1d(self.part.features, self.outside)

    def kept(self, supports: Supports) -> Kept:
        """Return the kept rows of a node: its fixed features first, then the free ones that have rows."""
        free = supports.possible
        own = np.isin(free, self.outside, invert=True) if self.outside.size else np.ones(free.size, bool)
        rows = np.concatenate((supports.into, free[own])).astype(np.int64)
        outside = int(free.size - np.count_nonzero(own))
        block, fixed = self.part.block(rows), supports.into.size
        prices, paid = None, 0.0
        if self.prices is not None:
            prices, paid = self.prices[rows], self.paid(supports)
            prices[:fixed] = 0.0
        if rows.size == self.problem.n and not fixed:
            return Kept(None, block, 0.0, prices=prices)
        floor = self.floor if outside else 0.0
        return Kept(rows, block, floor, free=outside, fixed=fixed, prices=prices, paid=paid)

    def paid(self, supports: Supports) -> float:
        """Return the sum of the prices of the features that are in, rounded down."""
        if self.prices is None or not supports.into.size:
            return 0.0
        return max(0.0, float(np.nextafter(math.fsum(self.prices[supports.into]), -np.inf)))
