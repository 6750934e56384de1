"""Components as they come, one after another, and what there is of them when somebody cancels."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from nspca.covariance.linalg import Array
from nspca.errors import Cancelled
from nspca.problem import Problem
from nspca.result import Result, Status


def collected(problem: Problem, count: int, components: Iterator[Array]) -> Array:
    """The first `count` components (n, count).

    Whoever cancels gets those that were found; and where there is none, what there was of the first, which is
    sought in the problem itself: a search for a later one knows another A than this problem's.
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
