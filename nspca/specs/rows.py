"""Rows that a worker reports as soon as each piece of its work is ready, packed for messages to a page."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nspca.result import Result, Status

MOST_SENT = 4000
"""Maximum nonzero weights in one progress message. Pictures of larger components wait for the end of the
run.
"""


@dataclass(frozen=True)
class Found:
    """One component: a row of `nspca.Sweep.frame`, and the bounds beside ours where a sweep computed them."""

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
    """Several components of one method.

    `parts` holds the features and weights of each component, or is None when they are too many to send.
    """

    method: str
    values: list[float]
    seconds: float
    parts: list[list[list[Any]]] | None

    @classmethod
    def of(cls, result: Result) -> Self:
        """Return the row for a result."""
        X = result.components
        parts: list[list[list[Any]]] = [
            [np.flatnonzero(x).tolist(), [float(f"{w:.6g}") for w in x[x != 0]]] for x in X.T
        ]
        few = np.count_nonzero(X) <= MOST_SENT
        return cls(result.method, result.values.tolist(), result.seconds, parts if few else None)

    def result(self, n: int) -> Result | None:
        """Return the result about n features, with six digits of the weights and without a certificate.

        None when no components were sent.
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
    """Better components found by a running method: their value and, unless they are large, their weights."""

    method: str
    seconds: float
    value: float
    parts: list[list[list[Any]]] | None = None

    def components(self, n: int) -> np.ndarray | None:
        """Return the components as columns (n, r), or None when they were not sent."""
        return None if self.parts is None else _columns(self.parts, n)


@dataclass(frozen=True)
class Explained:
    """Variance of the first 1, 2, ... components of a method, under the names of
    `nspca.components.explained_variances`.
    """

    method: str
    curves: dict[str, list[float]]
    seconds: float


@dataclass(frozen=True)
class Redrawn:
    """The features that a method chooses on rows drawn again."""

    method: str
    support: list[int]


@dataclass(frozen=True)
class Recurred:
    """Components found on rows drawn again, each matched with a component of all rows.

    `supports` are their features in the order of the matches, and `overlaps` the cosines, from 0 to 1.
    """

    supports: list[list[int]]
    overlaps: list[float]


@dataclass(frozen=True)
class Weighed:
    """Evidence for each number of features so far: the columns of an `nspca.Choice`, None where not yet
    known.
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
class Scored:
    """A line of the table of one of the papers' uses."""

    line: dict[str, Any]


@dataclass(frozen=True)
class Proved:
    """A proved upper bound on every component of k features."""

    k: int
    upper: float
    kind: str


@dataclass(frozen=True)
class Closer:
    """Lower and upper bound of a problem at one moment of a search."""

    seconds: float
    lower: float
    upper: float
    effort: str


@dataclass(frozen=True)
class Refused:
    """The message of the error of a method that cannot solve the problem."""

    method: str
    error: str


def _columns(parts: list[list[list[Any]]], n: int) -> np.ndarray:
    """Return components as columns (n, r) from their features and weights."""
    X = np.zeros((n, len(parts)))
    for j, (support, weights) in enumerate(parts):
        X[support, j] = weights
    return X


Row = (
    Found
    | Several
    | Climbed
    | Explained
    | Redrawn
    | Recurred
    | Weighed
    | Shuffled
    | Scored
    | Proved
    | Closer
    | Refused
)
NAMES = {row.__name__.lower(): row for row in Row.__args__}
"""Name of each kind of row, in messages and in the store."""


def pack(row: Row) -> dict[str, Any]:
    """Return the payload of an event that carries the row."""
    return {"row": {"row": type(row).__name__.lower(), **vars(row)}}


def unpack(rows: Iterable[dict[str, Any]]) -> list[Row]:
    """Return the rows of a run, without rows in the form of another version of the package."""
    found = []
    for row in rows:
        try:
            found.append(NAMES[row["row"]](**{name: value for name, value in row.items() if name != "row"}))
        except (KeyError, TypeError):
            continue
    return found
