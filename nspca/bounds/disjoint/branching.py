"""Choose the feature to branch on, and look for better answers by branching without any proof.

Both ask the linear program of `columns`. Over the sets known so far the program of a child takes
milliseconds. So several features are tried, and the one is chosen whose children stay lowest. A tree of
programs alone, with better sets at every node, takes seconds where a tree with proofs takes minutes. A
program that takes whole sets is an answer. `search.JointTree` begins with such a tree, as every proof is
shorter from a better answer.
"""

import heapq
import itertools
from collections.abc import Iterator

import numpy as np

from nspca.bounds.disjoint.columns import Columns, Prices
from nspca.bounds.disjoint.state import State
from nspca.covariance.linalg import Array

TRIED = 8
"""Features whose children are tried, those that the linear program leaves most open."""
PROGRAMS = 60
"""Maximum nodes of a tree of programs."""
OPEN = 1e-6
"""Least score of a feature that is branched on."""


def open_scores(state: State, prices: Prices) -> Array:
    """Return for each row (r,) how undecided the linear program leaves the component that has it.

    A row of which a component, alone in its class, has the share s gets ``1 + min(s, 1 - s)``. Any other row
    gets at most 1/2, and more where its shares are spread over more columns.
    """
    classes = state.classes
    use, most = np.zeros((len(classes), state.n)), np.zeros((len(classes), state.n))
    for g, S, share in prices.shares:
        own = list(S)
        use[g, own] += share
        most[g, own] = np.maximum(most[g, own], share)
    score = np.zeros(state.n)
    for g, own in enumerate(classes):
        free = state.free(own[0])
        open_ = np.minimum(use[g], np.maximum(1 - use[g], 0.0)) + 1.0
        split = 0.5 * np.minimum(use[g], 1.0) * (1 - most[g])
        part = np.where(open_ > 1 + OPEN, open_, split) if len(own) == 1 else split
        score[free] = np.maximum(score[free], part[free])
    return score


def choose_row(columns: Columns, state: State, prices: Prices, lower: float) -> int | None:
    """Return the row to branch on; None where the linear program takes whole columns.

    The programs of the children over the known columns are compared by the sum of squares of what they leave
    above `lower`, the best known value. The first row of the most open ones wins a tie.
    """
    score = open_scores(state, prices)
    order = np.argsort(-score, kind="stable")[:TRIED].tolist()
    rows = [row for row in order if score[row] > OPEN and state.holders(row)]

    def left_above(row: int) -> float:
        children = [child for child in state.children(row) if not child.is_impossible]
        programs = [columns.program(child, child.classes).program for child in children]
        return sum(max(program - lower, 0.0) ** 2 for program in programs)

    return min(rows, key=left_above, default=None)


def search_answers(
    columns: Columns, state: State, first: Array | None, lower: float
) -> Iterator[tuple[State, Prices]]:
    """Yield the states of a tree of programs, each with the solution of its linear program.

    States whose program does not exceed the best value so far have no children. A solution that takes whole
    columns is an answer, and its value the next best value if it is better.

    Parameters
    ----------
    columns : Columns
        The pool of sets, which grows.
    state : State
        Its features are the rows of A.
    first : (r,) float64, optional
        Prices to begin near.
    lower : float
        The best known value, in unit scale.
    """
    number, waiting = itertools.count(), [state]
    heap: list[tuple[float, int, State, Prices]] = []
    near = first
    while waiting or (heap and -heap[0][0] > lower):
        if not waiting:
            _, made, state, prices = heapq.heappop(heap)
            row = choose_row(columns, state, prices, lower)
            if row is None or made >= PROGRAMS:
                continue
            waiting, near = [child for child in state.children(row) if not child.is_impossible], prices.pi
        child = waiting.pop()
        prices = columns.prices(child, near)
        yield child, prices
        if prices.is_whole:
            lower = max(lower, prices.program)
        elif prices.program > lower:
            heapq.heappush(heap, (-prices.program, next(number), child, prices))
