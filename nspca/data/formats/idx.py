"""Read idx files, the format of MNIST: a stack of images or a table, with the labels in a second file."""

import numpy as np

from nspca.data.arrays import make_dataset, plain_numbers
from nspca.data.dataset import Dataset
from nspca.data.formats.base import Format, Source
from nspca.data.formats.strings import short_name, visible
from nspca.data.limits import plain_bytes
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Report

_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def _is_idx(first: bytes) -> bool:
    """Tell whether bytes start like an idx file: two zeros, a type, and the number of dimensions."""
    return len(first) > 8 and first[:2] == b"\0\0" and first[2] in _TYPES and 1 <= first[3] <= 4


def read_array(raw: bytes) -> np.ndarray:
    """Return the array of an idx file, after checking that the file is as long as its header says."""
    kind, dimensions = np.dtype(_TYPES[raw[2]]), raw[3]
    start = 4 + 4 * dimensions
    shape = [int.from_bytes(raw[at : at + 4], "big") for at in range(4, start, 4)]
    claimed = kind.itemsize
    for length in shape:
        claimed *= length
    if claimed != len(raw) - start:
        sizes = " x ".join(map(str, shape))
        raise InvalidData(
            f"The idx file says {sizes} values of {kind.itemsize} bytes and holds {max(0, len(raw) - start)} "
            "bytes: it is damaged or cut short, get it again."
        )
    X = np.frombuffer(raw, dtype=kind, offset=start).reshape(shape)
    return X if kind.kind == "u" else X.astype(np.float64)


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return an idx file, or a pair of values and labels in a ZIP or folder."""
    if source.files is None:
        found = [("", read_array(source.raw))]
    else:
        found = [
            (name, read_array(plain_bytes(one(), source.packed or None)))
            for name, one in visible(source.files)
        ]
    arrays = [one for one in found if one[1].ndim > 1]
    labels = [one for one in found if one[1].ndim == 1]
    if len(arrays) != 1 or arrays[0][1].ndim > 3 or len(labels) > 1:
        names = ", ".join(short_name(name) for name, _ in found if name)
        raise InvalidData(
            f"One idx file of images or numbers is needed, and one of labels at most; got {len(arrays)} and "
            f"{len(labels)}{f' ({names})' if names else ''}: give those that belong together."
        )
    X = arrays[0][1]
    about = {}
    if labels:
        y = labels[0][1].astype(np.int64)
        if len(y) != len(X):
            raise InvalidData(
                f"The idx files hold {len(X)} samples and {len(y)} labels: give those that belong together."
            )
        about = {"labels": y, "label_columns": {"label": y}, "label_name": "label"}
    return make_dataset(plain_numbers(X), source.title, options, **about)


def _matches(source: Source) -> bool:
    if source.files is None:
        return _is_idx(source.first())
    names = [name for name, _ in visible(source.files)]
    return 0 < len(names) <= 4 and all("idx" in name.lower() for name in names)


FORMAT = Format("an idx file", _matches, read=read)
