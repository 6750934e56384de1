"""Read svmlight (libsvm) files by scikit-learn: a label, then pairs of feature number and value."""

import io
import re
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.limits import check_sparse
from nspca.errors import InvalidData

_LINE = re.compile(
    rb"\s*[-+]?[\d.]+(e[-+]?\d+)?(\s+qid:\d+)?(\s+\d+:[-+]?[\d.]+(e[-+]?\d+)?|\s+\d+:nan)*\s*(#.*)?",
    re.IGNORECASE,
)
_PAIR = re.compile(rb"\s\d+:[-+\d.]")


def is_svmlight(first: bytes) -> bool:
    """Tell whether the first lines are labels with pairs such as ``3:0.5``."""
    lines = [line for line in first.split(b"\n")[:20] if line.strip() and not line.startswith(b"#")]
    if len(lines) > 1 and len(first) > 2**15:
        lines = lines[:-1]  # which may be cut
    return any(map(_PAIR.search, lines)) and all(map(_LINE.fullmatch, lines))


def read_svmlight(raw: bytes) -> tuple[Any, np.ndarray]:
    """Return the numbers (m, n) as CSR, and the labels, as integers where they are."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(raw), dtype=np.float64)[:2]
    except (ValueError, OverflowError, MemoryError) as error:
        raise InvalidData(
            f"The svmlight file cannot be read ({' '.join(str(error).split())[:120]}): each line is a label, and "
            "pairs such as 3:0.5 in ascending order."
        ) from None
    check_sparse(X.shape[0], X.shape[1], X.nnz)
    labels = y.astype(np.int64) if (y == np.round(y)).all() and (np.abs(y) < 2**53).all() else y
    return sp.csr_array(X), labels
