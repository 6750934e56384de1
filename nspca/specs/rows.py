"""What a worker says of each piece of its work as soon as it is ready; packed for the way to a page, and
unpacked there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nspca.result import Result, Status

MOST_SENT = 4000
"""Nonzero weights that one progress message carries; above, pictures wait for the end of the run."""


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
    """Several components of one method: the features and weights of each; None when they are too many to
    send.
    """

    method: str
    values: list[float]
    seconds: float
    parts: list[list[list]] | None

    @classmethod
    def of(cls, result: Result) -> Self:
        """Return the parts of a result that a viewer needs before the run ends."""
        X = result.components
        parts: list[list[list[Any]]] = [
            [np.flatnonzero(x).tolist(), [float(f"{w:.6g}") for w in x[x != 0]]] for x in X.T
        ]
        few = np.count_nonzero(X) <= MOST_SENT
        return cls(result.method, result.values.tolist(), result.seconds, parts if few else None)

    def result(self, n: int) -> Result | None:
        """The inverse of `of` up to six digits of the weights and without a certificate; None when no
        components were sent.
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
    """A method that finds components together has come upon better ones: their value, and what they are
    unless they are many.
    """

    method: str
    seconds: float
    value: float
    parts: list[list[list]] | None = None

    def components(self, n: int) -> np.ndarray | None:
        """As columns (n, r)."""
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
    """The features of several components on rows drawn again, each beside the component it is held against;
    and how much of that one's weights it has, from 0 to 1.
    """

    supports: list[list[int]]
    overlaps: list[float]


@dataclass(frozen=True)
class Weighed:
    """What speaks for each number of features so far: the columns of an `nspca.Choice`, None where nothing is
    known yet.
    """

    numbers: list[int]
    value: list[float | None]
    held_out: list[float | None]
    held_out_error: list[float | None]
    stability: list[float | None]
    stability_error: list[float | None]


@dataclass(frozen=True)
class Shuffled:
    """Variance explained by a component of a shuffled table, beside that of the table itself."""

    value: float
    noise: float


@dataclass(frozen=True)
class Scored:
    """A line of the table of one of the papers' uses."""

    line: dict[str, Any]


@dataclass(frozen=True)
class Proved:
    """A bound that no component of k features exceeds, whoever finds it."""

    k: int
    upper: float
    kind: str


@dataclass(frozen=True)
class Closer:
    """How close the two bounds of one k have come."""

    seconds: float
    lower: float
    upper: float
    effort: str


@dataclass(frozen=True)
class Refused:
    """The sentence of a method that cannot solve the problem."""

    method: str
    error: str


def _columns(parts: list[list[list]], n: int) -> np.ndarray:
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
    """A payload of an event that carries the row."""
    return {"row": {"row": type(row).__name__.lower(), **vars(row)}}


def unpack(rows: Iterable[dict[str, Any]]) -> list[Row]:
    """The rows of a run; one that another version of the package wrote in words of its own is left out."""
    found = []
    for row in rows:
        try:
            found.append(NAMES[row["row"]](**{name: value for name, value in row.items() if name != "row"}))
        except (KeyError, TypeError):
            continue
    return found
