"""Tables of any kind: their numbers, and the names of their features, by which columns are matched.

Data frames, AnnData and xarray are known by what they have, and none of their packages is imported: such a
table exists only where its package was imported already. Cells are rows and genes are columns.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nspca.errors import InvalidData, InvalidProblem, shown
from nspca.validation.options import is_whole

LISTED = 5
"""Maximum number of names listed in a sentence; the rest is counted."""


@dataclass(frozen=True, eq=False)
class Features:
    """Names of n features, and their arrangement as an image, row by row, as in `nspca.data.Dataset`."""

    names: Sequence[str]
    image_shape: tuple[int, int] | None = None


def features_on_disk(table: Any) -> Features | None:
    """Return the features of a table in blocks of rows such as `nspca.Shards`; None for numbered ones."""
    return Features(table.feature_names) if getattr(table, "has_names", False) else None


def _is_a(X: object, package: str, name: str) -> bool:
    made = getattr(sys.modules.get(package), name, None)
    return made is not None and isinstance(X, made)


def is_annotated(X: object) -> bool:
    """Tell whether X is an AnnData object."""
    return _is_a(X, "anndata", "AnnData")


def is_xarray(X: object) -> bool:
    """Tell whether X is a DataArray of xarray."""
    return _is_a(X, "xarray", "DataArray")


def plain_numbers(X: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return the numbers of a table and the names of its columns, or None where it does not hold them."""
    if is_xarray(X):
        if X.ndim != 2:
            raise InvalidProblem(
                f"a DataArray with 2 dimensions is required, got {X.dims}; stack them: X.stack(row=(...))"
            )
        columns = X.dims[1]
        return X.to_numpy(), tuple(map(str, X[columns].to_numpy())) if columns in X.coords else None
    if not is_annotated(X):
        return X, None
    if X.isbacked:
        X = X.to_memory()
    if X.X is None:
        raise InvalidProblem(
            "AnnData with numbers in X is required, got X = None; put a layer there: adata.X = "
            'adata.layers["counts"]'
        )
    return X.X, tuple(map(str, X.var_names))


def features_of(table: Any, covariance: bool = False) -> tuple[Any, Features | None]:
    """Return the numbers of a table and its features, which are None for a table without names.

    The table may be a data frame, AnnData, a `nspca.data.Dataset`, or anything else, which is returned as it
    is. With `covariance`, the caller takes the table as a covariance matrix.

    Raises
    ------
    InvalidProblem
        For a data set that is a covariance where data are required.
    """
    if not covariance and getattr(table, "is_covariance", False) is True:
        raise InvalidProblem("data are required, got a data set that is a covariance; use from_covariance")
    if hasattr(table, "feature_names") and hasattr(table, "image_shape"):
        return table.X, Features(table.feature_names, table.image_shape)
    table, genes = plain_numbers(table)
    columns = getattr(table, "columns", genes)
    if columns is None or not all(isinstance(name, str | int) for name in columns):
        return table, None
    return table, Features(tuple(map(str, columns)))


def weights_of(table: Any) -> Any:
    """Return the weights of the samples of a `nspca.data.Dataset`; None for any other table."""
    is_dataset = hasattr(table, "feature_names") and hasattr(table, "image_shape")
    return getattr(table, "weights", None) if is_dataset else None


def numbers_of(features: Any, names: Sequence[str]) -> np.ndarray:
    """Return the sorted numbers of features that are given by number (from 0) or by name, at least one."""
    place = {name: j for j, name in enumerate(names)}
    given: list[Any] = [features] if isinstance(features, str) or not np.iterable(features) else [*features]
    found: list[Any] = [place.get(one, one) if isinstance(one, str) else one for one in given]
    wrong = [one for one in found if not is_whole(one) or not 0 <= one < len(names)]
    if wrong or not found:
        got = shown(wrong[0]) if wrong else "nothing"
        raise InvalidData(f"Features are given by name or by a number from 0 to {len(names) - 1}, got {got}.")
    return np.array(sorted({int(one) for one in found}))


def positions(wanted: Sequence[str], given: Sequence[str]) -> list[int]:
    """Return the position of each `wanted` name among the `given` names, which may be more and in any order.

    Raises
    ------
    InvalidProblem
        When names are missing or a wanted name is given twice. The message lists missing and extra names.
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
    """Return some names in one line."""
    said = ", ".join(shown(str(name)) for name in names[:LISTED])
    return said if len(names) <= LISTED else f"{said} and {len(names) - LISTED} more"
