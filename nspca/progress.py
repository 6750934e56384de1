"""Progress reports of long computations: ``report(event)`` carries progress and may raise `Cancelled`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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


_of_passes: ContextVar[Report] = ContextVar("of_passes", default=silent)
"""Hook of `telling` in this thread."""


@contextmanager
def telling(report: Report) -> Iterator[None]:
    """Call `report` for every part of the data that is read inside the context; `report` may end it."""
    before = _of_passes.set(report)
    try:
        yield
    finally:
        _of_passes.reset(before)


def tell(event: Event) -> None:
    """Call the hook of `telling` with the progress of a long read of the data."""
    _of_passes.get()(event)


def progress_only(report: Report, k: int | None = None) -> Report:
    """Return a `report` for an inner search, whose bounds are not of the problem: without them, with k."""
    return lambda event: report(replace(event, lower=None, upper=None, k=k))
