"""Collect components that are found one after another, and keep those found before a cancellation.

`deflation` and `angle` pass their components through `collected`.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from nspca.covariance.linalg import Array
from nspca.errors import Cancelled
from nspca.problem import Problem
from nspca.result import Result, Status


def collected(problem: Problem, count: int, components: Iterator[Array]) -> Array:
    """Return the first `count` components (n, count).

    When a search is cancelled, `Cancelled.result` has the components found so far. If there are none, it has
    the partial answer for the first component. Partial answers for later ones are not used, since they belong
    to a deflated A.
    """
    found: list[Array] = []
    try:
        for x in islice(components, count):
            found.append(x)
    except Cancelled as stop:
        known = stop.result.components if isinstance(stop.result, Result) else None
        X = np.column_stack(found) if found else known
        stop.result = None if X is None else Result.of(problem, X, Status.CANCELLED, "auto")
        raise
    return np.column_stack(found)
