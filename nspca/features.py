"""What is known of features besides their numbers: names, and the grid in which they are pixels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nspca.annotated import plain
from nspca.errors import InvalidProblem


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
