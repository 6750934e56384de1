"""The data of the papers, as originals: what is not on this machine is `Absent`, and no stand-in takes its
place.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nspca.covariance.linalg import Array
from nspca.data import Dataset, load_sample, original_path, prepare
from nspca.data.folders import originals_folder
from nspca.errors import InvalidData

SAMPLES = ("cbcl", "leukemia", "lrs", "bow-kos")
EXTRA = {
    "arcene": "arcene.npz",
    "mfeat": "mfeat_pix.npz",
    "nonfaces": "cbcl_nonfaces.npz",
    "test faces": "cbcl_test_faces.npz",
}
"""Further tables, read from the folder that NSPCA_DATA names; arrays X of an NPZ."""


class Absent(InvalidData):
    """The original is not on this machine."""


def sample(name: str, *prepared: str) -> Dataset:
    """Load one of the data sets of the papers, prepared.

    Raises
    ------
    Absent
        When only a stand-in is available.
    """
    if original_path(name) is None:
        raise Absent(f"The original of {name} is not on this machine: add it on the data page.")
    return prepare(load_sample(name), *prepared)


def table(name: str) -> Array:
    """A further table (m, n).

    Raises
    ------
    Absent
        When its file is not there.
    """
    path = _path(name)
    if path is None:
        raise Absent(f"{EXTRA[name]} is not in the folder that NSPCA_DATA names.")
    with np.load(path, allow_pickle=False) as file:
        X = file["X"].astype(np.float64)
    return X.reshape(len(X), -1)


def standardised(X: Array) -> Array:
    """Every feature with mean 0 and variance 1; those that do not vary are 0."""
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


def digest(names: Iterable[str]) -> str:
    """Return a hash of the files of some data sets, which changes when one of them changes."""
    found = hashlib.sha256()
    for name in names:
        path = _path(name)
        found.update(name.encode() + (b"-" if path is None else path.read_bytes()))
    return found.hexdigest()
