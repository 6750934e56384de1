"""Read svmlight (libsvm) files by scikit-learn: in each line a label, and pairs of feature and value."""

import io
import re

import numpy as np
import scipy.sparse as sp

from nspca.data.arrays import make_dataset
from nspca.data.dataset import Dataset
from nspca.data.formats.base import Format, Source
from nspca.data.limits import check_sparse
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Report

_NUMBER = rb"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
_LINE = re.compile(rb"\s*%b(\s+qid:\d+)?(\s+\d+:(%b|nan))*\s*(#.*)?" % (_NUMBER, _NUMBER), re.IGNORECASE)
_PAIR = re.compile(rb"\s\d+:[-+\d.]")


def _is_svmlight(source: Source) -> bool:
    """Tell whether the first lines are labels with pairs such as ``3:0.5``."""
    lines = source.first().split(b"\n")
    lines = [line for line in lines[: max(1, min(20, len(lines) - 1))] if line.strip() and line[:1] != b"#"]
    return any(map(_PAIR.search, lines)) and all(map(_LINE.fullmatch, lines))


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the numbers, sparse, with the labels."""
    # Imported late, since scikit-learn slows the start of a page.
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(source.raw), dtype=np.float64)[:2]
    except (ValueError, OverflowError, MemoryError) as error:
        raise InvalidData(
            f"The svmlight file cannot be read ({' '.join(str(error).split())[:120]}): each line is a label, "
            "and pairs such as 3:0.5 in ascending order."
        ) from None
    check_sparse(X.shape[0], X.shape[1], X.nnz)
    whole = (y == np.round(y)).all() and (np.abs(y) < 2**53).all()
    labels = y.astype(np.int64) if whole else y
    about = {"labels": labels, "label_columns": {"label": labels}, "label_name": "label"}
    said = ["An svmlight file: the first number of each line is the label."]
    said += ["Numbers of queries (qid) were left out."] * bool(re.search(rb"\sqid:\d", source.raw))
    return make_dataset(sp.csr_array(X), source.title, options, findings=said, **about)


FORMAT = Format("an svmlight file", _is_svmlight, read=read)
