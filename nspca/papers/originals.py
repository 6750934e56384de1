"""Load the original data sets of the papers. Missing ones raise `Absent`; no other data are used.

The modules of the papers call `sample`, `table` and `standardised`. The page Papers calls `missing` and
`digest`.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nspca.covariance.linalg import Array
from nspca.data import Dataset, load_sample, original_path, prepare
from nspca.data.catalogue import find_sample, originals_folder
from nspca.errors import InvalidData
from nspca.presentation.phrases import listed

SAMPLES = ("cbcl", "leukemia", "lrs", "bow-kos")
EXTRA = {
    "arcene": "arcene.npz",
    "mfeat": "mfeat_pix.npz",
    "nonfaces": "cbcl_nonfaces.npz",
    "test faces": "cbcl_test_faces.npz",
}
"""Names of further tables and their NPZ files in the folder that NSPCA_DATA names. Each holds an array X."""


class Absent(InvalidData):
    """The error for an original data set that is not on this machine."""


def sample(name: str, *prepared: str) -> Dataset:
    """Load one of `SAMPLES`, prepared as `nspca.data.prepare` does; `Absent` without its original."""
    if original_path(name) is None:
        raise Absent(f"The original of {name} is not on this machine: {remedy([name])}.")
    return prepare(load_sample(name), *prepared)


def table(name: str) -> Array:
    """Load one of the tables `EXTRA` as an array (m, n); `Absent` without its file."""
    path = _path(name)
    if path is None:
        raise Absent(f"The original of {name} is not on this machine: {remedy([name])}.")
    with np.load(path, allow_pickle=False) as file:
        X = file["X"].astype(np.float64)
    return X.reshape(len(X), -1)


def standardised(X: Array) -> Array:
    """Return X with every feature (column) at mean 0 and variance 1; constant features become 0."""
    X = np.asarray(X, dtype=np.float64)
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def _path(name: str) -> Path | None:
    if name in SAMPLES:
        return original_path(name)
    folder = originals_folder()
    path = None if folder is None else folder / EXTRA[name]
    return path if path is not None and path.is_file() else None


def missing(names: Iterable[str]) -> list[str]:
    """Return the names whose original data are not on this machine."""
    return [name for name in names if _path(name) is None]


def remedy(names: Iterable[str]) -> str:
    """Return how the originals of some data sets are made available to nspca, as a clause."""
    files = [find_sample(name).file if name in SAMPLES else EXTRA[name] for name in names]
    put = f"put {listed(files)} into"
    if originals_folder() is not None:
        return f"{put} the folder that the environment variable NSPCA_DATA names"
    return f"{put} a folder, name it in the environment variable NSPCA_DATA, and start nspca again"


def digest(names: Iterable[str]) -> str:
    """Return a hash of the files of some data sets, which changes when one of them changes."""
    found = hashlib.sha256()
    for name in names:
        path = _path(name)
        found.update(name.encode() + (b"-" if path is None else path.read_bytes()))
    return found.hexdigest()
