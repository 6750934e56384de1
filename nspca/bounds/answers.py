"""List all good answers: a tree at a level below the best value, whose leaves stay below or contain a listed
set.

A set of at most k features is good if it explains more than the level. The tree lists minimal good sets. A
leaf is bounded by the level, or it is covered: a listed set is among the features that are in. So every good
set contains a listed one (docs/note.md, *All good answers*).

A nonnegative leaf with a single set is closed, too, where the leading vector of the set has both signs. The
best nonnegative component then lacks a feature, so the set is good only if it is not minimal.

Where a node may hold a good set, its bound is above the level whatever is done. So the node is branched along
the features t1, ..., tm of the set that it lacks: without t1, with t1 but without t2, and so on. The last
part, with all of them, is covered.

`selection.answers` calls `list_answers`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.disjoint.others import OthersTree, best_exchange
from nspca.bounds.fixing.arrays import joined, packed
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import COVERED, MIXED, Node, Supports, Warm
from nspca.bounds.fixing.tasks import ROUNDS, Task
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import PLANS
from nspca.bounds.search import ROWS, prices_of, start_of_tree, witness_of
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, one_thread, rank1
from nspca.errors import Cancelled, InvalidProblem
from nspca.local_search import single
from nspca.local_search.forced import each_replaced
from nspca.local_search.minimal import GoodSet, best_above, is_mixed, minimal
from nspca.problem import Problem
from nspca.progress import Report, silent

GAP = 1e-9
"""Relative gap above the level at which a node is closed."""
BELOW = 1e-12
"""Relative distance below a value that was reached, for rounding: a search for the margin begins there."""
FEW = 2000
"""Maximum supports of a problem whose nodes are first branched on without a lift, which takes longer than all
of them. Where leading vectors of nonnegative nodes tie, a lift is still needed.
"""
NONE = np.zeros(0, dtype=np.int64)


@dataclass(eq=False, kw_only=True)
class AnswerTree(FixingTree):
    """The tree that lists the good sets above the level `lower`.

    Attributes
    ----------
    share : float
        A better set raises the level to this share of its value.
    most : int
        Maximum number of listed sets above the level. Further ones raise the level.
    only_first : bool
        Whether the list stays as it is, and every good set that contains none of it raises the level.
    """

    stage = "listing good answers"
    share: float = 0.0
    most: int = 1000
    only_first: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sets: list[GoodSet] = []
        self.members = np.zeros((0, self.problem.n), dtype=bool)
        self.at_level = True

    def add(self, good: GoodSet) -> None:
        """Add a set to the list, and raise the level where it explains more than was known, or one too many
        is listed.
        """
        self.sets.append(good)
        self.lower = max(self.lower, self.share * good.value)
        own = np.zeros((1, self.problem.n), dtype=bool)
        own[0, good.features] = True
        self.members = np.vstack((self.members, own))
        if len(self.sets) > self.most:
            values = sorted((one.value for one in self.sets), reverse=True)
            self.lower = max(self.lower, values[self.most])

    def list_first(self, x: Array) -> None:
        """Begin the list with the set of the best known answer x (n,), made minimal unless it is the only
        one.
        """
        A, forced, nonneg = self.problem.covariance, self.problem.forced, self.problem.nonneg
        features = np.union1d(np.flatnonzero(x), forced).astype(np.int64)
        good = best_above(A, features, 0.0 if self.only_first else self.target, nonneg)
        if good is not None and self.only_first:
            used = np.isin(good.features, forced) | (good.weights != 0)
            self.add(GoodSet(good.features[used], good.weights[used], good.value))
        elif good is not None:
            self.add(minimal(A, good, forced, self.target, nonneg))

    # --- good sets of a node --------------------------------------------------------------------------------
    def missing(self, supports: Supports, points: Sequence[Array] = ()) -> np.ndarray | None:
        """Return the features of a good set that some supports contain, besides the certain ones; None if no
        such set is known. A set that is found is listed.
        """
        certain, possible = np.zeros((2, self.problem.n), dtype=bool)
        certain[supports.certain], possible[supports.possible] = True, True
        lacking = self.members & ~certain
        count = lacking.sum(axis=1)
        held = ~(lacking & ~possible).any(axis=1) & (count <= supports.k - supports.into.size)
        if held.any():
            at = np.flatnonzero(held)
            best = min(at.tolist(), key=lambda i: (count[i], -self.sets[i].value))
            return self.ordered(self.sets[best], certain)
        while (good := self.found(supports, points)) is not None:
            if not self.only_first:
                self.add(good)
                return self.ordered(good, certain)
            self.lower = good.value
        return None

    def ordered(self, good: GoodSet, certain: np.ndarray) -> np.ndarray:
        """Return the features of a set that are not certain, the largest weight first."""
        order = good.features[np.argsort(-np.abs(good.weights), kind="stable")]
        return order[~certain[order]]

    def found(self, supports: Supports, points: Sequence[Array]) -> GoodSet | None:
        """Return a minimal good set among the features of some supports, by a local search; None if it finds
        none. With at most k features, or one, nothing is missed.
        """
        part, forced = self.ground.whole.part, self.problem.forced
        certain = supports.certain
        free = supports.possible[np.isin(supports.possible, part.features)]
        features, k = np.union1d(certain, free), certain.size + supports.k - supports.into.size
        if not features.size:
            return None
        best = None
        if features.size <= k:
            best = best_above(part, features, self.target, self.problem.nonneg)
        else:
            own = Problem(
                part.restrict(features), k, self.problem.nonneg, np.searchsorted(features, certain).tolist()
            )
            for x in self.starts(own, features, points):
                x = single.swaps(own, single.polish(own, x))
                used = np.union1d(features[x != 0], forced).astype(np.int64)
                best = best_above(part, used, self.target, self.problem.nonneg)
                if best is not None:
                    break
        if best is None or self.only_first:
            return best
        return minimal(part, best, forced, self.target, self.problem.nonneg)

    def starts(self, own: Problem, features: np.ndarray, points: Sequence[Array]) -> Iterable[Array]:
        """Yield feasible starts on some features: points (n,) given, the leading vector, and a listed set."""
        given = [x[features] for x in points]
        given.append(own.covariance.leading(1)[1][:, 0])
        near = self.members[:, features].sum(axis=1)
        if near.size:
            nearest = self.sets[int(np.argmax(near))]
            x = np.zeros(self.problem.n)
            x[nearest.features] = nearest.weights
            given.append(own.covariance.product(x[features]))
        for a in given:
            for signed in (a, -a) if own.nonneg else (a,):
                x = rank1(signed, own.size, own.nonneg, own.forced)
                if np.any(x):
                    yield x

    # --- the tree -------------------------------------------------------------------------------------------
    def open(self, node: Node) -> None:
        """Cover a node, or add it to the open nodes with the features that it is branched along, if any."""
        if node.leaf is None or node.upper <= self.target:
            return
        missing = self.missing(node.supports, self.points_of(node.warm))
        if missing is not None and not missing.size:
            node.leaf, node.settled, node.warm = None, COVERED, None
        elif missing is not None:
            node.along = missing
            self.push(node)
        elif node.upper > self.target:  # the level may have been raised
            if not node.supports.possible.size and self.is_mixed(node.supports):
                node.settled = MIXED
            else:
                super().open(node)

    def is_mixed(self, supports: Supports) -> bool:
        """Tell whether the only set of some supports has a leading vector of mixed sign."""
        part, features = self.ground.whole.part, supports.certain
        known = self.ground.smallest and np.isin(features, part.features).all()
        return bool(known) and is_mixed(part, part.block(features))

    def points_of(self, warm: Warm | None) -> list[Array]:
        """Return the best point (n,) of the bundle of a node."""
        if warm is None or not warm.points.size:
            return []
        x = np.zeros(self.problem.n)
        values = np.einsum("ij,ij->j", warm.points, self.ground.whole.part.block(warm.rows) @ warm.points)
        x[warm.rows] = warm.points[:, int(np.argmax(values))]
        return [x]

    def parts(self, node: Node) -> list[Supports]:
        """Return the supports of the parts of a node that are settled: with a feature and without it; or, on
        the way along a set, without each feature in turn but with those before.
        """
        along = node.along
        if along is None:
            return super().parts(node)
        return [node.supports.fix(along[[i]], along[:i]) for i in range(along.size)]

    def tasks(self, node: Node) -> Iterable[Task]:
        """Return a task for each part; one that holds a good set gets no rounds, as they cannot close it."""
        for task in super().tasks(node):
            is_good = self.missing(task.supports, self.points_of(node.warm)) is not None
            yield replace(task, rounds=0) if is_good else task

    def attach(self, node: Node, parts: list[Node]) -> None:
        """Put the settled parts below their node, and at the end of the way along a set a covered leaf."""
        along, node.along = node.along, None
        if along is None:
            super().attach(node, parts)
            return
        for feature, without in zip(along.tolist(), parts, strict=True):
            having = Node(node.supports.fix(NONE, np.array([feature])), cap=node.cap)
            node.branch(feature, having, without)
            node = having
        node.settled = COVERED

    # --- results --------------------------------------------------------------------------------------------
    def certificate(self) -> Certificate:
        """Return the certificate that no component explains more than the bound without a listed set."""
        assert self.root is not None  # `proved` is finite
        arrays, upper = packed(self.root)
        sets = self.sets
        arrays |= {
            "counts": np.array([one.features.size for one in sets], dtype=np.int64),
            "members": joined([one.features for one in sets], np.int64),
            "weights": joined([one.weights for one in sets], np.float64),
            "values": np.array([one.value for one in sets], dtype=np.float64),
        }
        return Certificate.of(self.problem, "A", "answers", upper, arrays)


def without_nothing(X: Array) -> Array:
    """Return components without weights that change their value within rounding only."""
    return np.where(np.abs(X) > UNIT_ROUNDOFF**0.5, X, 0.0)


def bound_others(
    problem: Problem, X: Array, base: Certificate, limits: Limits, report: Report = silent
) -> Certificate | None:
    """Return a bound on all disjoint components but the best ones X (n, r); None where none is proved.

    `base` is a certificate of their value, whose prices are tried first.
    """
    X, largest = without_nothing(X), problem.with_k(max(problem.sizes))
    with one_thread():
        ground = Ground.of(largest, elimination.keep(largest, ROWS))
        if not np.isin(np.flatnonzero(X.any(axis=1)), ground.part.features).all() or not X.any(axis=0).all():
            return None
        tree = OthersTree(
            problem,
            PLANS["standard"],
            best_exchange(problem, X) * (1 - BELOW),
            report=report,
            ground=ground,
            limits=limits.helped(problem.covariance.client),
            listed=[
                tuple(np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)].tolist()) for x in X.T
            ],
        )
        tree.first, tree.witness = prices_of(problem, base), witness_of(problem, ground, base)
        tree.run(X)
        return tree.certificate()


def list_answers(
    problem: Problem,
    x: Array,
    base: Certificate,
    within: float | None,
    limits: Limits,
    report: Report,
    most: int = 1000,
) -> AnswerTree:
    """Return the tree that lists the minimal good sets of a problem.

    Parameters
    ----------
    problem : Problem
        A problem for one component.
    x : (n,) float64
        The best known answer.
    base : Certificate
        A certificate of the problem, whose first witness is tried first.
    within : float or None
        A set is good if it explains more than ``1 - within`` of `x`. With None only the set of x is listed.
    limits : Limits
    report : callable
        Gets events, and may raise `Cancelled`, which then carries the tree as its `best`.
    most : int
        Maximum number of listed sets above the level.

    Returns
    -------
    AnswerTree
        Its root is settled.
    """
    plan, A, reached = PLANS["standard"], problem.covariance, problem.covariance.quadratic(x)
    x = without_nothing(x)
    share = 0.0 if within is None else (1 - within) * (1 - 2 * GAP)  # what is proved stays below 1 - within
    if within is None:
        lacking = each_replaced(problem, x, report).lacking[np.setdiff1d(np.flatnonzero(x), problem.forced)]
        level = min(float(lacking.max(initial=0.0)), reached) * (1 - BELOW)
    else:
        level = share * reached
    with one_thread():
        begun = start_of_tree(problem, plan, level, base, report)
        if begun is None:
            raise InvalidProblem(
                f"answers are listed where features vary, with at most {plan.rows[-1]} forced ones; got "
                f"{len(problem.forced)} forced, of {problem.n}"
            )
        kept, witness, warm = begun
        ground = replace(Ground.of(problem, kept), smallest=problem.nonneg and not problem.forced)
        few = Supports.of(problem, ground.everything).count <= FEW and (ground.smallest or not problem.nonneg)
        for rounds in (0, ROUNDS) if few else (ROUNDS,):
            tree = AnswerTree(
                problem=problem,
                plan=plan,
                lower=level,
                gap=GAP,
                report=report,
                ground=ground,
                limits=limits.helped(A.client),
                rounds=rounds,
                share=share,
                most=most,
                only_first=within is None,
            )
            tree.list_first(x)
            try:
                # rounds close no root that holds a good set
                tree.begin(witness, warm, work=plan.eigenvalues)
                if tree.root is None:  # the time is over before anything is proved
                    ends, tree.ends = tree.ends, np.inf
                    tree.begin(None)
                    tree.ends = ends
                tree.run()
            except Cancelled as stop:
                stop.best = tree if tree.root is not None else None
                raise
            if tree.proved <= tree.target or tree.stopped:
                break
    return tree
