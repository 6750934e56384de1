"""Find for each feature a good component that uses it, or does not use it, by the best exchange on A.

Each value is reached by a component that may use the feature, or that does not use it. So it bounds from
above the cost of forcing or forbidding the feature. A pair is judged in two variables, as in `single.swaps`;
the most promising pairs are solved on their support. `selection.membership` calls `each_replaced`.
"""

from dataclasses import dataclass

import numpy as np

from nspca.covariance.data import without_underflow
from nspca.covariance.linalg import Array, normalised, topk_indices
from nspca.local_search.removal import without_each
from nspca.local_search.single import exchange_feature, support_of, two_variable_values
from nspca.problem import Problem
from nspca.progress import Event, Report

SOLVED = 100
"""Number of exchanges solved on their support, for outside features and again for inside ones."""
AT_ONCE = 2**22
"""Number of pairs judged at a time."""


@dataclass(frozen=True, eq=False)
class Replaced:
    """Values reached with and without each feature, and the partners of the exchanges.

    Attributes
    ----------
    having, lacking : (n,) float64
        In unit scale; 0 where no such component is known.
    partner : (n,) int
        The feature exchanged with this one; -1 where none is needed or known.
    """

    having: Array
    lacking: Array
    partner: np.ndarray


def each_replaced(problem: Problem, x: Array, report: Report) -> Replaced:
    """Return the values reached with and without each feature, by the best exchange in a component x (n,)."""
    A, n, forced = problem.covariance, problem.n, list(problem.forced)
    x = normalised(x)  # a result may be off by more than rounding
    value, support, allowed = A.quadratic(x), np.flatnonzero(x), support_of(problem, x)
    outside, full = np.delete(np.arange(n), allowed), allowed.size >= problem.size
    having, lacking, partner = np.zeros(n), np.full(n, value), np.full(n, -1)
    having[allowed] = value
    columns = A.columns(support)
    lacking[support] = np.maximum(without_each(columns[support], x[support]).values, 0.0)
    step = max(1, AT_ONCE // (support.size + 1))
    for J in (outside[i : i + step] for i in range(0, outside.size, step)):
        out, reached = two_variable_values(A, x, support, J, columns, full, problem.nonneg)
        reached[np.isin(out, forced)] = 0.0
        best = np.argmax(reached, axis=0)
        having[J] = reached[best, np.arange(J.size)]
        partner[J] = np.where(having[J] > 0, out[best], -1)
        of_own = reached[: support.size]
        entering = np.argmax(of_own, axis=1)
        values = of_own[np.arange(support.size), entering]
        better = values > lacking[support]
        lacking[support[better]], partner[support[better]] = values[better], J[entering[better]]
    some = having[outside] > 0
    promising = outside[some][topk_indices(having[outside][some], SOLVED)]
    own = support[partner[support] >= 0]
    for done, j in enumerate([*promising, *own[topk_indices(lacking[own], SOLVED)]]):
        report(Event("exchanges", done, 2 * SOLVED, k=problem.size))
        enters, values = (j, having) if done < promising.size else (partner[j], lacking)
        leaves = partner[j] if done < promising.size else j
        values[j] = max(values[j], A.quadratic(exchange_feature(problem, x, leaves, enters)))
    having, lacking = without_underflow(A, having), without_underflow(A, lacking)
    return Replaced(having, lacking, partner)
