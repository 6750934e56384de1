"""Accept AnnData and xarray's DataArray without requiring their packages.

Cells are rows and genes are columns, as in this package. The estimator and `nspca.validation.features` pass
every table of a user through `plain`. Nothing here imports anndata: an AnnData object
exists only where its package was imported already. The same holds for xarray.
"""

import sys
from typing import Any

from nspca.errors import InvalidProblem


def is_annotated(X: object) -> bool:
    """Tell whether X is an AnnData object."""
    made = getattr(sys.modules.get("anndata"), "AnnData", None)
    return made is not None and isinstance(X, made)


def is_xarray(X: object) -> bool:
    """Tell whether X is a DataArray of xarray."""
    made = getattr(sys.modules.get("xarray"), "DataArray", None)
    return made is not None and isinstance(X, made)


def plain(X: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return the numbers of a table and the names of its columns, which are None where it does not hold them.

    Raises
    ------
    InvalidProblem
        For AnnData without numbers, and for an array of xarray with other than two dimensions.
    """
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
