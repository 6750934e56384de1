"""Rows: partial results that a worker reports during a run, packed for progress messages.

Specs pack a row into an event, and pages unpack the rows of a run to draw what is ready.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from nspca.local_search.disjoint import as_lists
from nspca.progress import Event, Report
from nspca.result import Result, Status

MOST_SENT = 4000
"""Maximum nonzero weights in one progress message. Larger components are shown at the end of the run only."""


@dataclass(frozen=True)
class Found:
    """One component: a row of `nspca.Sweep.frame`, with the published bounds if a sweep computed them.

    `value` is the explained variance, `upper` its proved bound, `ratio` the proved share of the optimum, and
    `kind` the kind of the bound; None without a bound.
    """

    method: str
    k: int
    value: float
    upper: float | None = None
    ratio: float | None = None
    kind: str | None = None
    seconds: float = 0.0
    upper_rank3: float | None = None
    upper_epsnet: float | None = None
    epsnet_probability: float | None = None


@dataclass(frozen=True)
class Several:
    """Several components of one method: the variance of each, and their weights.

    `parts` has the numbers of the features and the weights of each component; None if they are too many to
    send.
    """

    method: str
    values: list[float]
    seconds: float
    parts: list[list[list[Any]]] | None

    @classmethod
    def of(cls, result: Result) -> Self:
        """Return the row of a result."""
        X = result.components
        parts = as_lists(X) if np.count_nonzero(X) <= MOST_SENT else None
        return cls(result.method, result.values.tolist(), result.seconds, parts)

    def result(self, n: int) -> Result | None:
        """Return the result for n features, with weights of six digits and without a certificate.

        Returns None if no components were sent.
        """
        if self.parts is None:
            return None
        return Result(
            _columns(self.parts, n),
            np.array(self.values),
            Status.HEURISTIC,
            self.method,
            seconds=self.seconds,
        )


@dataclass(frozen=True)
class Climbed:
    """Better components of a running method: their value, and their weights unless they are too many.

    `seconds` counts from the start of the method. `parts` is that of `Several`.
    """

    method: str
    seconds: float
    value: float
    parts: list[list[list[Any]]] | None = None

    def components(self, n: int) -> np.ndarray | None:
        """Return the components as columns (n, r), or None if they were not sent."""
        return None if self.parts is None else _columns(self.parts, n)


@dataclass(frozen=True)
class Redrawn:
    """Supports of a method's components on a bootstrap sample of the rows.

    Of several components they are in the order of the components of all rows that they match, and `overlaps`
    are the cosines of the matches.
    """

    method: str
    supports: list[list[int]]
    overlaps: list[float]


@dataclass(frozen=True)
class Weighed:
    """Evidence for each number of features, or of components, so far.

    The lists are the columns of an `nspca.Choice`; unknown values are None.
    """

    numbers: list[int]
    value: list[float | None]
    held_out: list[float | None]
    held_out_error: list[float | None]
    stability: list[float | None]
    stability_error: list[float | None]


@dataclass(frozen=True)
class Shuffled:
    """Variances explained by a component of the table, and by one of a shuffled table."""

    value: float
    noise: float


@dataclass(frozen=True)
class Proved:
    """A proved upper bound on every component of k features."""

    k: int
    upper: float
    kind: str


@dataclass(frozen=True)
class Closer:
    """Value (`lower`) and bound (`upper`) of a problem after some seconds of a search with an `effort`."""

    seconds: float
    lower: float
    upper: float
    effort: str


@dataclass(frozen=True)
class Refused:
    """The error message of a method that cannot solve the problem, or of the proof (method "proof")."""

    method: str
    error: str


def _columns(parts: list[list[list[Any]]], n: int) -> np.ndarray:
    X = np.zeros((n, len(parts)))
    for j, (support, weights) in enumerate(parts):
        X[support, j] = weights
    return X


Row = Found | Several | Climbed | Redrawn | Weighed | Shuffled | Proved | Closer | Refused
NAMES = {row.__name__.lower(): row for row in Row.__args__}
"""Classes of rows by their names in messages and in the store."""


def pack(row: Row) -> dict[str, Any]:
    """Return a row as the payload of an event."""
    return {"row": {"row": type(row).__name__.lower(), **vars(row)}}


def packed_rows(report: Report, kind: Callable[..., Row]) -> Report:
    """Return a report hook that passes events on, with the "row" of their payload packed as a `kind`."""

    def say(event: Event) -> None:
        """Report an event with its row, if any, as a row of the kind."""
        row = event.payload.get("row")
        report(event if row is None else replace(event, payload=pack(kind(**row))))

    return say


def unpack(rows: Iterable[dict[str, Any]]) -> list[Row]:
    """Return the rows of a run from what is under "row" in the payloads of `pack`.

    Rows of another version of the package are left out.
    """
    found = []
    for row in rows:
        try:
            found.append(NAMES[row["row"]](**{name: value for name, value in row.items() if name != "row"}))
        except (KeyError, TypeError):
            continue
    return found
