"""Compare with published exact methods for sparse PCA on their own matrices, signed and nonnegative.

    python -m benchmarks.published [--nodes N] [--store]

Prints one Markdown row per matrix and k: what is published, and the value and proved share of this package,
signed and nonnegative. Nobody else has published certificates for nonnegative components. The matrices are
read from `published_covariances.npz` in the folder that `NSPCA_DATA` names. A row is printed once its
certificates are verified against the matrix. `--store` writes the rows to `sample_data/papers`, where the
Papers page finds them, and the table to `docs/exact.md`.
"""

import argparse
import json
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import nspca
from benchmarks.optimal import PUBLISHED
from benchmarks.speed import say
from nspca.covariance.linalg import Array
from nspca.data.folders import originals_folder, sample_folder
from nspca.papers import exact
from nspca.papers.originals import Absent

PAGE = Path(__file__).resolve().parents[1] / "docs" / "exact.md"
BEGIN, END = "<!-- made by benchmarks.published -->", "<!-- end -->"
FILE = "published_covariances.npz"
"""Name of the file with the matrices, in the folder that NSPCA_DATA names."""
COLUMNS = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved", "CPU s",
    "here, nonnegative", "proved", "CPU s",
)  # fmt: skip
"""Names of the columns of the table in docs/."""


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
            f"{' and '.join(exact.SOURCES)}"
        )
    with np.load(path, allow_pickle=False) as held:
        found = {name: np.nan_to_num(held[name].astype(np.float64)) for name in held.files}
    return {name: (A + A.T) / 2 for name, A in found.items()}


def markdown(rows: Iterable[exact.Row]) -> str:
    """Return the table of docs/exact.md as Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    return "\n".join([*lines, *(f"| {' | '.join(exact.cells(row))} |" for row in rows)])


def packed(rows: Iterable[exact.Row]) -> list[dict[str, Any]]:
    """Return rows as plain values for JSON."""
    return [asdict(row) for row in rows]


def solved(A, k: int, nonneg: bool, nodes: int) -> exact.Ours:
    """Return value, proved share and CPU seconds of one problem, with its certificate verified."""
    started = time.process_time()
    problem = nspca.Problem.from_covariance(A, k, nonneg=nonneg, repair="shift")
    result = nspca.solve(problem, certify="exhaustive", nodes=nodes)
    spent = time.process_time() - started
    nspca.verify(A, result.certificate, problem)
    is_optimal = result.status is nspca.Status.OPTIMAL
    return exact.Ours(result.value, result.ratio, is_optimal, round(spent, 2))


def main() -> None:
    """Print the table, and store it if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=600, help="nodes of each search (default 600)")
    parser.add_argument("--store", action="store_true", help="write the rows and the page")
    args = parser.parse_args()
    found, rows = matrices(), []
    say(markdown([]))
    for published in PUBLISHED:
        A = found[published.matrix]
        signed, nonneg = (solved(A, published.k, sign, args.nodes) for sign in (False, True))
        row = exact.Row(published.matrix, len(A), published.k, published.theirs, signed, nonneg)
        rows.append(row)
        say(markdown([row]).splitlines()[-1])
    if args.store:
        text = json.dumps(packed(rows), indent=1) + "\n"
        (sample_folder() / "papers" / "exact-methods.json").write_text(text, encoding="utf-8")
        page = PAGE.read_text("utf-8")
        before, after = page.partition(BEGIN)[0], page.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{markdown(rows)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
