"""Bound all disjoint components but the best ones: a joint tree below their value that leaves out their sets.

A node is covered where the state has all features of the best components in. All other leaves are bounded by
the level. On the way to the covered node the tree is branched on the features of the best components, since
no prices can close a node that may hold them.

`answers.bound_others` runs an `OthersTree`.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds.disjoint.columns import Prices
from nspca.bounds.disjoint.node import JointNode
from nspca.bounds.disjoint.search import JointTree
from nspca.bounds.disjoint.state import State
from nspca.bounds.fixing.arrays import joined
from nspca.bounds.fixing.stored import Stored
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array
from nspca.local_search.single import best_on_support
from nspca.problem import Problem

NEAR = 5
"""Number of features outside a component that are tried in place of each of its features."""


@dataclass(eq=False, kw_only=True)
class OthersTree(JointTree):
    """Search over the sets of all components for the best ones that are not the listed ones.

    Attributes
    ----------
    listed : list of tuple of int
        Features of each component of the best answer, the largest weight first.
    """

    stage = "bounding all others"
    listed: list[tuple[int, ...]] = field(default_factory=list)

    def look_for_answers(self, first: Array | None) -> None:
        """Look for no answers by programs alone: the listed one would be found."""

    def homes(self, state: State) -> list[int] | None:
        """Return for each listed set the component that may have it; None where they have no room."""
        from scipy.optimize import linear_sum_assignment  # which takes a third of a second to import

        fits = np.array([[state.holds(c, T) for c in range(len(state.sizes))] for T in self.listed])
        inside = np.array([[len(own & {*T}) for own in state.into] for T in self.listed])
        rows, homes = linear_sum_assignment(np.where(fits, inside + 1, -state.n * len(fits)), maximize=True)
        return homes.tolist() if fits[rows, homes].all() else None

    def missing(self, state: State) -> list[int] | None:
        """Return the features of the listed sets that their components need not have yet; None as `homes`."""
        homes = self.homes(state)
        if homes is None:
            return None
        left = [[j for j in T if j not in state.into[c]] for T, c in zip(self.listed, homes, strict=True)]
        begun = sorted(filter(None, left), key=len)
        return [j for own in begun for j in own]

    def prepare(self, node: JointNode, first: Array | None, witness: Stored | None) -> bool:
        ready = super().prepare(node, first, witness) if self.may_be_bounded(node) else True
        return ready or node.is_covered

    def may_be_bounded(self, node: JointNode) -> bool:
        """Tell whether a node is not covered, and note where it is."""
        node.is_covered = not node.is_empty and node.state is not None and self.missing(node.state) == []
        return not node.is_covered

    def improve(self, node: JointNode) -> None:
        if node.prices is not None and node.state is not None and self.missing(node.state):
            node.is_stuck = not self.branch(node)
        elif self.may_be_bounded(node):  # a pricing may have fixed the last features
            super().improve(node)

    def row_of(self, state: State, prices: Prices) -> int | None:
        missing = self.missing(state)
        if not missing:
            return super().row_of(state, prices)
        return int(np.searchsorted(self.base.features, missing[0]))

    def take(self, rows: State, prices: Prices) -> None:
        own = [set(self.base.features[list(S)].tolist()) for _, S, _ in prices.shares]
        homes = {c for T in self.listed for c, S in enumerate(own) if S.issuperset(T)}
        if len(homes) < len(self.listed):  # a set that contains a listed one is no other
            super().take(rows, prices)

    def certificate(self) -> Certificate | None:
        found = super().certificate()
        if found is None:
            return None
        sets = {"counts": np.array([len(T) for T in self.listed], dtype=np.int64)}
        sets["members"] = joined([np.sort(T) for T in self.listed], np.int64)
        return replace(found, kind="A", form="others", witness=found.witness | sets, unfinished={})


def best_exchange(problem: Problem, X: Array) -> float:
    """Return the largest total that one exchange of a feature reaches from components X, in unit scale.

    A feature of one component leaves it, alone or for one of the `NEAR` unused features that go best with it.
    """
    A, best, used = problem.covariance, 0.0, np.asarray(X.any(axis=1))
    values = np.array([A.quadratic(x) for x in X.T])
    for c, x in enumerate(X.T):
        S = np.flatnonzero(x)
        slopes = np.where(used, -np.inf, A.product(x) if problem.nonneg else np.abs(A.product(x)))
        near = [j for j in np.argsort(-slopes)[:NEAR].tolist() if not used[j]]
        for i in S.tolist():
            others = S[i != S]
            for own in [others, *(np.append(others, j) for j in near)]:
                if own.size:
                    B = A.block(own)
                    y = best_on_support(B, np.full(own.size, own.size**-0.5), problem.nonneg)
                    best = max(best, float(values.sum() - values[c] + y @ B @ y))
    return best
