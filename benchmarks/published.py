"""Compare with published exact methods for sparse PCA on their own matrices, signed and nonnegative.

    python -m benchmarks.published [--nodes N] [--store]

Prints one Markdown row per matrix and k: what is published, and the value and proved share of this package,
signed and nonnegative. Nobody else has published certificates for nonnegative components. The matrices are
read from `published_covariances.npz` and `slice_covariance.npz` in the folder that `NSPCA_DATA` names. A row
is printed once its certificates are verified against the matrix. `--store` writes the rows to
`sample_data/papers`, where the Papers page finds them, and the table to `docs/exact.md`.
"""

import json
import time
from dataclasses import asdict

import nspca
from benchmarks.optimal import PUBLISHED, matrices
from benchmarks.shared import arguments, head, row, say, store
from nspca.data.folders import sample_folder
from nspca.papers import exact

COLUMNS = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved", "CPU s",
    "here, nonnegative", "proved", "CPU s",
)  # fmt: skip
"""Names of the columns of the table in docs/."""


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
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=600, help="nodes of each search (default 600)")
    parser.add_argument("--store", action="store_true", help="write the rows and the page")
    args = parser.parse_args()
    found, rows, lines = matrices(), [], [head(COLUMNS)]
    say(*lines)
    for published in PUBLISHED:
        if published.matrix not in found:
            parser.error(f"{published.matrix} must be in the folder that NSPCA_DATA names; see docs/exact.md")
        A = found[published.matrix]
        signed, nonneg = (solved(A, published.k, sign, args.nodes) for sign in (False, True))
        rows.append(exact.Row(published.matrix, len(A), published.k, published.theirs, signed, nonneg))
        lines.append(row(exact.cells(rows[-1])))
        say(lines[-1])
    if args.store:
        text = json.dumps([asdict(one) for one in rows], indent=1) + "\n"
        (sample_folder() / "papers" / "exact-methods.json").write_text(text, encoding="utf-8")
        store("exact.md", "published", "\n".join(lines))


if __name__ == "__main__":
    main()
