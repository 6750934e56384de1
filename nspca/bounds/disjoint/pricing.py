"""Bound of the answers of a state: prices of features, and a search that fixes features for each class.

A *state* says for each component which features it must have and cannot have. The components of one size for
which it says the same are a *class*. Features *have rows* where safe elimination has kept their rows of A.

For prices pi >= 0, Pi the largest sum of prices that the sets of an answer can have together, and q_c at
least x'Ax - pi(S) for every set S that component c may have,

    sum_c x_c'A x_c  <=  Pi + sum_c q_c,

since sum_c x_c'A x_c = sum_c (x_c'A x_c - pi(S_c)) + sum_c pi(S_c) and the S_c share no feature. One tree
with prices (`nspca.bounds.fixing`) proves q_c for all components of a class.

Where all other components reach their q at most, an answer above v needs x'Ax - pi(S) above
v - Pi - (the other q) in component c. So what a tree fixes at that level is fixed for every answer above v.

`search.JointTree` makes a `Pricing` at every node: one that bounds the node, or one that also fixes features.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from nspca.bounds.disjoint.columns import Prices
from nspca.bounds.disjoint.state import State
from nspca.bounds.fixing.arrays import exact, level_of
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import LEAF, Node, Supports
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import CLOSED, Plan
from nspca.covariance.linalg import Array
from nspca.problem import Problem
from nspca.progress import Event, Report

COUNTED = 5e6
"""Work of the first enumeration of the sets of a class by eigenvalues: r^3 for each part."""
ROUNDS = 6
"""Rounds of the lift at the root of a tree."""
NO_GOAL = -1.0
"""Goal of a pricing that fixes nothing; the value of no answer is below it."""


@dataclass(frozen=True, eq=False)
class Base:
    """Features that have rows, and the part of A on these features.

    Attributes
    ----------
    problem : Problem
        The joint problem.
    ground : Ground
        The kept rows of the problem, without prices.
    """

    problem: Problem
    ground: Ground

    @property
    def features(self) -> np.ndarray:
        """Return the features (r,) that have rows, increasing."""
        return self.ground.part.features

    @property
    def A(self) -> Array:
        """Return the part (r, r) of A on the features that have rows."""
        return self.ground.part.held

    def of_rows(self, state: State) -> State:
        """Return a state with its features numbered by their rows; features without rows are left out."""
        place = {int(j): i for i, j in enumerate(self.features)}

        def rows(sets: tuple[frozenset[int], ...]) -> tuple[frozenset[int], ...]:
            """Return sets of features as sets of rows."""
            return tuple(frozenset(place[j] for j in own if j in place) for own in sets)

        return State(state.sizes, rows(state.into), rows(state.out), len(self.features))

    def spread(self, values: Array) -> Array:
        """Return values of rows (r,) as values of all features (n,), 0 elsewhere."""
        full = np.zeros(self.problem.n)
        full[self.features] = values
        return full


@dataclass(frozen=True)
class Means:
    """Limits of the work on a pricing, and the callback for progress.

    Attributes
    ----------
    plan : Plan
    tell : callable
        Called now and then; may raise `Cancelled`.
    seconds : float, optional
        Wall time for each tree.
    client : distributed.Client, optional
        Dask client whose workers settle the nodes of trees.
    rounds : int
        Maximum rounds of the lift at the root of a tree; 0 for no lift.
    """

    plan: Plan
    tell: Callable[[], None]
    seconds: float | None = None
    client: Any = None
    rounds: int = ROUNDS


@dataclass(eq=False)
class Pricing:
    """Prices at a state and a tree for each class, whose bound may still be improved.

    Attributes
    ----------
    base : Base
    state : State
        The state before the trees fix anything.
    pi : (n,) float64
        Price of each feature.
    goal : float
        Every answer above this value obeys what the trees fix; `NO_GOAL` where they fix nothing.
    trees : list of ClassTree
        One for each class, in the order of the classes.
    """

    base: Base
    state: State
    pi: Array
    goal: float = NO_GOAL
    trees: list["ClassTree"] = field(default_factory=list)

    @classmethod
    def begin(
        cls, base: Base, state: State, pi: Array, levels: list[float], means: Means, witness: Stored | None
    ) -> "Pricing":
        """Return a pricing whose trees have their roots; `levels` are the values that they aim at.

        The witness is tried first at every root.
        """
        made = cls(base, state, pi)
        for (c, *_), level in zip(state.classes, levels, strict=True):
            tree = ClassTree.of(base, state, c, pi, level, means)
            made.trees.append(tree)
            tree.begin(witness, None, means.rounds, COUNTED if means.rounds else 0.0)
        return made

    @classmethod
    def fixing(
        cls,
        last: "Pricing",
        levels: list[float],
        goal: float,
        witnesses: list[Stored],
        tell: Callable[[], None],
    ) -> "Pricing":
        """Return a pricing with the prices of `last` that fixes features for every answer above a goal.

        Each witness bounds its class, and fixes what it can at the level of the class.
        """
        made = cls(last.base, last.state, last.pi, goal)
        # A stage must be at the level itself: there is no gap.
        for tree, level, witness in zip(last.trees, levels, witnesses, strict=True):
            again = replace(tree, lower=level, gap=0.0, report=_calling(tell), limits=Limits(), at_level=True)
            again.nodes = again.steps = 0
            again.begin(witness, None, 0, 0.0)
            made.trees.append(again)
        return made

    @property
    def held(self) -> int:
        return sum(tree.held for tree in self.trees)

    @property
    def is_ready(self) -> bool:
        return len(self.trees) == len(self.state.classes) and all(
            tree.root is not None for tree in self.trees
        )

    @cached_property
    def largest_sum(self) -> Fraction:
        """Return Pi, the largest sum of prices that the sets of an answer can have, exactly."""
        state, pi = self.state, self.pi
        into = sorted(frozenset().union(*state.into))
        possible = np.ones(pi.size, dtype=bool)
        possible[list(frozenset.intersection(*state.out))] = False
        possible[into] = False
        others = np.sort(pi[possible])[::-1][: max(0, sum(state.sizes) - len(into))]
        return sum(map(Fraction, [*pi[into].tolist(), *others.tolist()]), Fraction(0))

    def parts(self) -> list[tuple[Fraction, Fraction]]:
        """Return for each class its q and the level of its tree, exactly."""
        found = []
        for tree in self.trees:
            assert tree.root is not None  # the pricing is ready
            level, nodes = Fraction(level_of(tree.root)), tree.root.walk()
            leaves = [exact(node.leaf) for node in nodes if node.leaf is not None and node.code == LEAF]
            found.append((max([level, *leaves]), level))
        return found

    @property
    def upper(self) -> Fraction:
        return self.total(self.parts())

    def total(self, parts: list[tuple[Fraction, Fraction]]) -> Fraction:
        """Return the bound, exactly: Pi plus the q of every component, from the result of `parts`."""
        return self.largest_sum + sum(
            (q * len(own) for (q, _), own in zip(parts, self.state.classes, strict=True)), Fraction(0)
        )

    def levels(self, goal: float) -> list[float]:
        """Return for each class the level at which its tree fixes features for every answer above a goal."""
        parts = self.parts()
        total = self.total(parts)
        found = []
        for q, _ in parts:
            level = float(Fraction(goal) - total + q)
            while Fraction(level) + total - q > Fraction(goal):
                level = float(np.nextafter(level, -np.inf))
            found.append(level)
        return found

    @property
    def estimate(self) -> float:
        """Return the bound up to rounding."""
        pairs = zip(self.trees, self.state.classes, strict=True)
        return float(self.largest_sum) + sum(tree.reached * len(own) for tree, own in pairs)

    def after(self) -> State | None:
        """Return the state that every answer above the goal is in; None where there is no such answer."""
        state, parts = self.state, self.parts()
        total = self.total(parts)
        for (first, *others), (q, level), tree in zip(state.classes, parts, self.trees, strict=True):
            if level + total - q > Fraction(self.goal):
                continue
            assert tree.root is not None  # the pricing is ready
            before = tree.all_sets()
            left = before
            for stage in tree.root.stages:
                left = left.fix(stage.out, stage.into)
            into = np.setdiff1d(left.into, before.into).tolist()
            out = np.setdiff1d(before.possible, np.union1d(left.possible, left.into)).tolist()
            if left.is_empty or (into and others):
                return None
            for c in (first, *others):
                state = state.fix(c, out, into)
        return state


@dataclass(eq=False, kw_only=True)
class ClassTree(FixingTree):
    """Search over the sets that the components of a class may have, which proves the q of the class.

    Attributes
    ----------
    supports : Supports
        The sets that are searched.
    ended : float
        Largest bound of the leaves above the target that have nothing to branch on.
    """

    supports: Supports
    ended: float = -np.inf

    @classmethod
    def of(cls, base: Base, state: State, c: int, pi: Array, level: float, means: Means) -> "ClassTree":
        """Return a tree for component c that has not begun."""
        k, must, free, old = state.sizes[c], state.must(c), state.free(c), base.ground
        problem = Problem(old.part, k, base.problem.nonneg)
        ground = Ground(problem, np.intersect1d(old.outside, free), old.floor, pi)
        return cls(
            problem,
            means.plan,
            level,
            gap=CLOSED,
            report=_calling(means.tell),
            ground=ground,
            limits=Limits(seconds=means.seconds, client=means.client),
            supports=Supports(must, np.intersect1d(free, ground.everything), k),
        )

    def open(self, node: Node) -> None:
        """Put a node among those to be split, or note its bound where it cannot be split."""
        if node.leaf is not None and not node.supports.possible.size:
            self.ended = max(self.ended, node.upper)
        super().open(node)

    def all_sets(self) -> Supports:
        return self.supports

    @property
    def reached(self) -> float:
        """Return the bound on x'Ax - pi(S) that the tree proves so far, up to rounding."""
        nodes = [node for _, _, node in self.heap[:1]] + self.parted + self.stuck
        return max([self.target, self.ended, *(node.upper for node in nodes)])

    def tell(self) -> None:
        """Call the joint search, which reports its own numbers; the event of one class has none."""
        self.report(Event(self.stage))


def _calling(tell: Callable[[], None]) -> Report:
    """Return a report that calls a function without the event."""
    return lambda event: tell()


def aims(prices: Prices, state: State, goal: float) -> list[float]:
    """Return the level that the tree of each class aims at: the largest known value(S) - pi(S).

    Where the linear program stays below the goal, the difference is shared out among the components and
    raises their levels.
    """
    spare = max(0.0, goal - prices.program) / len(state.sizes)
    return [top + spare for top in prices.tops]
