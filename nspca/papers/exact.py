"""Compare published exact methods for sparse PCA with this package, on the same matrices.

The published numbers are from Bertsimas, Cory-Wright and Pauphilet (2022), Li and Xie (2025), Berk and
Bertsimas (2019), and Dey, Mazumder and Wang (2022). Their methods are for components of any sign. No other
certificates for nonnegative components have been published. `benchmarks.published` computes and stores the
rows. The page Papers, docs/exact.md and the note on certificates show them.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from nspca.covariance.linalg import Array
from nspca.data.folders import originals_folder, sample_folder
from nspca.papers.originals import Absent
from nspca.presentation.numerals import format_guarantee

FILE = "published_covariances.npz"
"""Name of the file with the matrices, in the folder that NSPCA_DATA names."""
CITED = (
    "D. Bertsimas, R. Cory-Wright, J. Pauphilet: Solving large-scale sparse PCA to certifiable (near) "
    "optimality. Journal of Machine Learning Research 23, 2022",
    "Y. Li, W. Xie: Exact and approximation algorithms for sparse PCA. INFORMS Journal on Computing, 2025",
    "L. Berk, D. Bertsimas: Certifiably optimal sparse principal component analysis. Mathematical "
    "Programming Computation 11, 2019",
    "S. S. Dey, R. Mazumder, G. Wang: Using l1-relaxation and integer programming to obtain dual bounds for "
    "sparse PCA. Operations Research 70, 2022",
)
"""The papers whose numbers the table quotes."""
REFUTED = ("normArrhythmia", 5, 4.2321)
"""Matrix, k and printed optimum for which a better component exists."""
SOURCES = ("https://github.com/ryancorywright/ScalableSPCA.jl", "https://github.com/INFORMSJoC/2022.0372")
"""Public repositories that have the matrices."""


@dataclass(frozen=True)
class Ours:
    """Value and proved share of one problem, and the CPU seconds of search and proof together."""

    value: float
    ratio: float
    is_optimal: bool
    seconds: float

    @property
    def share(self) -> str:
        """Proved share of the optimum as text, rounded down."""
        return "optimal" if self.is_optimal else format_guarantee(self.ratio)


@dataclass(frozen=True)
class Row:
    """One matrix and k: the published result as text, and the results of this package for both signs."""

    matrix: str
    n: int
    k: int
    theirs: str
    signed: Ours
    nonneg: Ours


COLUMNS = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved", "CPU s",
    "here, nonnegative", "proved", "CPU s",
)  # fmt: skip
"""Names of the columns of the table in docs/."""
HEADERS = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved, any sign", "CPU s, any sign",
    "here, nonnegative", "proved, nonnegative", "CPU s, nonnegative",
)  # fmt: skip
"""Names of the columns of the table on the page, all different."""


def matrices() -> dict[str, Array]:
    """Return the published matrices by name, made symmetric, with 0 for NaN as in the authors' code.

    Raises
    ------
    Absent
        When the file is not in the folder that NSPCA_DATA names.
    """
    folder = originals_folder()
    path = None if folder is None else folder / FILE
    if path is None or not path.is_file():
        raise Absent(
            f"{FILE} must be in the folder that NSPCA_DATA names, got none; the matrices are in "
            f"{' and '.join(SOURCES)}"
        )
    with np.load(path, allow_pickle=False) as held:
        found = {name: np.nan_to_num(held[name].astype(np.float64)) for name in held.files}
    return {name: (A + A.T) / 2 for name, A in found.items()}


def cells(row: Row) -> list[str]:
    """Return the texts of a row in the order of `COLUMNS`."""
    ours = [
        text
        for one in (row.signed, row.nonneg)
        for text in (f"{one.value:.7g}", one.share, f"{one.seconds:.1f}")
    ]
    return [row.matrix, str(row.n), str(row.k), row.theirs or "not stored", *ours]


def markdown(rows: Iterable[Row]) -> str:
    """Return the table of docs/exact.md as Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    return "\n".join([*lines, *(f"| {' | '.join(cells(row))} |" for row in rows)])


def packed(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return rows as plain values for JSON."""
    return [asdict(row) for row in rows]


@cache
def stored() -> tuple[Row, ...]:
    """Return the rows that ship with the project; none if the file is missing."""
    path = sample_folder() / "papers" / "exact-methods.json"
    if not path.is_file():
        return ()
    return tuple(
        Row(**(row | {sign: Ours(**row[sign]) for sign in ("signed", "nonneg")}))
        for row in json.loads(path.read_text("utf-8"))
    )


def refutation(rows: Iterable[Row]) -> str:
    """Return a sentence about the published optimum that a better component refutes; "" without its row."""
    matrix, k, printed = REFUTED
    for row in rows:
        if (row.matrix, row.k) == (matrix, k) and row.signed.value > printed:
            proof = "is proved optimal" if row.signed.is_optimal else f"is proved to {row.signed.share}"
            return (
                f"The published optimum of {matrix} at k = {k}, {printed}, is not one: "
                f"{row.signed.value:.7g} is reached, and {proof}."
            )
    return ""
