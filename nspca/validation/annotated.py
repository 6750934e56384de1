"""Accept AnnData, the annotated tables of single-cell biology, without requiring the package anndata.

Cells are rows and genes are columns, as in this package. The estimator and `nspca.validation.features` pass
every table of a user through `plain`. Nothing here imports anndata: an AnnData object
exists only where its package was imported already.
"""

import sys
from typing import Any

from nspca.errors import InvalidProblem


def is_annotated(X: object) -> bool:
    """Tell whether X is an AnnData object."""
    made = getattr(sys.modules.get("anndata"), "AnnData", None)
    return made is not None and isinstance(X, made)


def plain(X: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return the numbers of a table, and the names of its columns for AnnData (None for any other table).

    Raises
    ------
    InvalidProblem
        For AnnData without numbers.
    """
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
