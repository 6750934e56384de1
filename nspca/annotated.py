"""AnnData, the annotated tables of single-cell biology: taken where somebody has made one, never required.

Cells are rows and genes are columns, as here. The package anndata is imported by whoever made such an object,
and not by this module.
"""

import sys
from typing import Any

from nspca.errors import InvalidProblem


def is_annotated(X: object) -> bool:
    """Whether X is an AnnData object."""
    made = getattr(sys.modules.get("anndata"), "AnnData", None)
    return made is not None and isinstance(X, made)


def plain(X: Any) -> tuple[Any, tuple[str, ...] | None]:
    """The numbers of a table, and the names of its columns where it is AnnData; any other as it is.

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
