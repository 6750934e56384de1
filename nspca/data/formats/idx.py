"""Read idx files, the format of MNIST: a stack of images, a table, or labels."""

import numpy as np

from nspca.errors import InvalidData

_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def is_idx(first: bytes) -> bool:
    """Tell whether bytes start like an idx file: two zeros, a type, and the number of dimensions."""
    return len(first) > 8 and first[:2] == b"\0\0" and first[2] in _TYPES and 1 <= first[3] <= 4


def read_idx(raw: bytes) -> np.ndarray:
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
            f"The idx file says {sizes} values of {kind.itemsize} bytes and holds {max(0, len(raw) - start)} bytes: "
            "it is damaged or cut short, get it again."
        )
    X = np.frombuffer(raw, dtype=kind, offset=start).reshape(shape)
    return X if kind.kind == "u" else X.astype(np.float64)
