"""What is known of features besides their numbers: names, by which they are found again in whatever order a
table has them, and the grid in which they are pixels.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nspca.annotated import plain
from nspca.errors import InvalidProblem, shown

LISTED = 5
"""Names that a sentence lists; of more it says how many."""


@dataclass(frozen=True, eq=False)
class Features:
    """Names of n features, and how they form an image.

    Parameters
    ----------
    names : sequence of str
    image_shape : (rows, columns) or None
        As of a `nspca.data.Dataset`: row by row.
    """

    names: Sequence[str]
    image_shape: tuple[int, int] | None = None


class NamesOnDisk(Sequence[str]):
    """Names of a table on disk, read when the first is asked for: there may be a million of them.

    Sent to another process they are names, as the table need not be there.
    """

    def __init__(self, table: Any):
        self._table = table

    def __len__(self) -> int:
        return int(self._table.shape[1])

    def __getitem__(self, which):
        return self._table.feature_names[which]

    def __reduce__(self):
        return tuple, (tuple(self),)


def features_on_disk(table: Any) -> Features | None:
    """What a table in blocks of rows, as `nspca.Shards`, says of its features; None where they are numbered
    only.
    """
    manifest = getattr(table, "manifest", None)
    numbered = manifest is not None and manifest.features is None
    named = inspect.getattr_static(table, "feature_names", None) is not None  # which reads none of them
    return Features(NamesOnDisk(table)) if named and not numbered else None


def features_of(table: Any, covariance: bool = False) -> tuple[Any, Features | None]:
    """The numbers of a table, and what it says of its features: a data frame, AnnData, or a
    `nspca.data.Dataset`.

    Raises
    ------
    InvalidProblem
        For a data set that is a covariance where data are required.
    """
    if not covariance and getattr(table, "is_covariance", False) is True:
        raise InvalidProblem("data are required, got a data set that is a covariance; use from_covariance")
    if hasattr(table, "feature_names") and hasattr(table, "image_shape"):
        return table.X, Features(table.feature_names, table.image_shape)
    table, genes = plain(table)
    columns = getattr(table, "columns", genes)
    if columns is None or not all(isinstance(name, str | int) for name in columns):
        return table, None
    return table, Features(tuple(map(str, columns)))


def positions(wanted: Sequence[str], given: Sequence[str]) -> list[int]:
    """Where each of the `wanted` names is among the `given` ones, which may be more and in any order.

    Raises
    ------
    InvalidProblem
        When names are missing, which it lists with those that nobody wanted; or when one is there twice.
    """
    where = {name: i for i, name in enumerate(given)}
    known = set(wanted)
    missing = [name for name in wanted if name not in where]
    if missing:
        others = [name for name in given if name not in known]
        beside = f"; it has {listed(others)} besides" if others else ""
        raise InvalidProblem(
            f"the table must have the {len(wanted)} features that are needed, by name, got one without "
            f"{listed(missing)}{beside}; rename its columns, or give those that are missing"
        )
    twice = [name for i, name in enumerate(given) if name in known and where[name] != i]
    if twice:
        raise InvalidProblem(
            f"features must have different names, got {listed(twice)} more than once; rename those columns"
        )
    return [where[name] for name in wanted]


def listed(names: Sequence[str]) -> str:
    """Some names in one line."""
    said = ", ".join(shown(str(name)) for name in names[:LISTED])
    return said if len(names) <= LISTED else f"{said} and {len(names) - LISTED} more"
