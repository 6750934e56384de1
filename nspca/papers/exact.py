"""Compare published exact methods for sparse PCA with this package, on the same matrices.

The published numbers are from Bertsimas, Cory-Wright and Pauphilet (2022), Li and Xie (2025), Berk and
Bertsimas (2019), and Dey, Mazumder and Wang (2022). Their methods are for components of any sign. No other
certificates for nonnegative components have been published. `benchmarks.published` computes and stores the
rows. The page Papers, docs/exact.md and the note on certificates show them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from nspca.data.catalogue import sample_folder
from nspca.presentation.numerals import format_guarantee

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


HEADERS = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved, any sign", "CPU s, any sign",
    "here, nonnegative", "proved, nonnegative", "CPU s, nonnegative",
)  # fmt: skip
"""Names of the columns of the table on the page, all different."""


def cells(row: Row) -> list[str]:
    """Return the texts of a row in the order of `HEADERS`."""
    ours = [
        text
        for one in (row.signed, row.nonneg)
        for text in (f"{one.value:.7g}", one.share, f"{one.seconds:.1f}")
    ]
    return [row.matrix, str(row.n), str(row.k), row.theirs or "not stored", *ours]


@cache
def stored() -> tuple[Row, ...]:
    """Return the rows that ship with the project; none if the file is missing."""
    path = sample_folder() / "papers" / "exact-methods.json"
    if not path.is_file():
        return ()
    return TypeAdapter(tuple[Row, ...]).validate_json(path.read_bytes())


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
