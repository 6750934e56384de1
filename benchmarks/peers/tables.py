"""Tables of numbers given to every contender, and the rows of the comparison."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

import nspca
from nspca.data import prepare


@dataclass(frozen=True)
class Table:
    """Samples in rows; `source` is "real", "relative", or "made" for noise."""

    name: str
    X: Any
    source: str

    @cached_property
    def dense(self) -> np.ndarray:
        """All entries written out, for those who cannot do without; that costs them no time."""
        return self.X.toarray() if sp.issparse(self.X) else self.X

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape


def sample(name: str, *preparations: str) -> tuple[Any, str]:
    """Return the numbers of a sample in float64, and whether they are real."""
    data = prepare(nspca.load_sample(name), *preparations)
    return data.X.astype(np.float64), data.source


def noise() -> tuple[Any, str]:
    """Return independent normal numbers, without structure: the longest search finds most."""
    return np.random.default_rng(0).standard_normal((300, 300)), "made"


LOADERS: dict[str, Callable[[], tuple[Any, str]]] = {
    "CBCL": lambda: sample("cbcl"),
    "CBCL Lee-Seung": lambda: sample("cbcl", "lee-seung"),
    "LRS": lambda: sample("lrs"),
    "digits": lambda: sample("digits"),
    "noise": noise,
    "Leukemia": lambda: sample("leukemia"),
    "KOS": lambda: sample("bow-kos"),
}
SIZES = {"LRS": (10, 40), "digits": (10, 40)}
"""k of tables of less than 100 features; of the others 40 alone."""


def load(name: str) -> Table:
    """Return a table by name; its relative where the original is not here."""
    X, source = LOADERS[name]()
    return Table(name, X, source)


def sizes(table: Table) -> list[int]:
    """Return the k of a table: those below its number of features."""
    return [k for k in SIZES.get(table.name, (40,)) if k < table.shape[1]]
