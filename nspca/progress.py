"""Progress reports of long computations: ``report(event)`` carries progress and may raise `Cancelled`."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Event:
    """Progress of a computation: its stage, steps, best value and bound.

    Parameters
    ----------
    stage : str
        What is being done, in the words shown to the user.
    done, total : int
        Steps finished and steps in all; ``total = 0`` when that is unknown.
    lower, upper : float or None
        Best value and best proved bound so far, in the units of the data.
    k : int or None
        The sparsity the numbers belong to.
    message : str
        A sentence for the user, may be empty.
    payload : dict
        Plain numbers, strings and lists for the live view, at most 64 KiB when pickled.
    """

    stage: str
    done: int = 0
    total: int = 0
    lower: float | None = None
    upper: float | None = None
    k: int | None = None
    message: str = ""
    payload: dict[str, Any] = field(default_factory=dict)


Report = Callable[[Event], None]
"""Hook that long computations call with an event; the pages and the command line show what it gets."""


def silent(event: Event) -> None:
    """Ignore an event; the default `report`."""


def progress_only(report: Report, k: int | None = None) -> Report:
    """Return a `report` for an inner search whose numbers are not values of the problem: bounds are removed,
    k is set.
    """
    return lambda event: report(replace(event, lower=None, upper=None, k=k))
