"""Compare with published exact methods for sparse PCA on their own matrices, signed and nonnegative.

    python -m benchmarks.published [--nodes N] [--store]

Prints one Markdown row per matrix and k: what is published, and the value and proved share of this package,
signed and nonnegative. Nobody else has published certificates for nonnegative components. The matrices are
read from `published_covariances.npz` and `slice_covariance.npz` in the folder that `NSPCA_DATA` names. A row
is printed once its certificates are verified against the matrix. `--store` writes the rows to
`sample_data/papers`, where the Papers page finds them, and the table to `docs/exact.md`.
"""

import argparse
import json
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nspca
from benchmarks.optimal import PUBLISHED, matrices
from benchmarks.speed import say
from nspca.data.folders import sample_folder
from nspca.papers import exact

PAGE = Path(__file__).resolve().parents[1] / "docs" / "exact.md"
BEGIN, END = "<!-- made by benchmarks.published -->", "<!-- end -->"
COLUMNS = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved", "CPU s",
    "here, nonnegative", "proved", "CPU s",
)  # fmt: skip
"""Names of the columns of the table in docs/."""


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
        if published.matrix not in found:
            parser.error(f"{published.matrix} must be in the folder that NSPCA_DATA names; see docs/exact.md")
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
