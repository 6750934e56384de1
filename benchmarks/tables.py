"""Real tables that several benchmarks measure, and the problems that are posed of them."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nspca
from nspca.data import SAMPLES, prepare

FOLDER = Path(os.environ.get("NSPCA_DATA", ""))


@dataclass(frozen=True)
class Table:
    """Data by name, and what a problem of them says besides k.

    Attributes
    ----------
    name : str
        As it is printed.
    source : str
        Name of a sample, or of a file of `NSPCA_DATA` without its ending.
    prepared : tuple of str
        Preparations, as `nspca.prepare` takes them.
    first : int or None
        Number of rows used, from the first one; all by default.
    divide : float
        Divisor of all numbers.
    nonneg, center, scale : bool
        As for `nspca.Problem`.
    """

    name: str
    source: str
    prepared: tuple[str, ...] = ()
    first: int | None = None
    divide: float = 1.0
    nonneg: bool = True
    center: bool = True
    scale: bool = False

    @property
    def is_covariance(self) -> bool:
        return self.source in SAMPLES and nspca.load_sample(self.source).is_covariance

    def read(self):
        """Return the numbers, without columns of one value; None where the original is not here."""
        if self.source in SAMPLES:
            sample = nspca.load_sample(self.source)
            if sample.source == "relative":
                return None
            X = prepare(sample, *self.prepared).X
            return X / self.divide if self.divide != 1 else X
        file = FOLDER / f"{self.source}.npz"
        if not file.is_file():
            return None
        with np.load(file, allow_pickle=False) as held:
            X = held["X"][: self.first].astype(np.float64)
        return X[:, np.ptp(X, axis=0) > 0]

    def problem(self, X, k) -> nspca.Problem:
        """Return the problem of the numbers."""
        if self.is_covariance:
            return nspca.Problem.from_covariance(X, k, self.nonneg)
        return nspca.Problem.from_data(X, k, self.nonneg, center=self.center, scale=self.scale)


LEUKEMIA = Table("Leukemia", "leukemia")
LEE_SEUNG = Table("CBCL Lee-Seung", "cbcl", ("lee-seung",))
