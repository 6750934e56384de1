"""Compare with published exact methods for sparse PCA on their own matrices, signed and nonnegative.

    python -m benchmarks.published [--nodes N] [--store]
    python -m benchmarks.published --answers [--within SHARE] [--seconds S] [--store]

Prints one Markdown row per matrix and k: what is published, and the value and proved share of this package,
signed and nonnegative. Nobody else has published certificates for nonnegative components. `--answers` lists
the good answers instead: the number of minimal sets that explain more than ``1 - within`` of the optimum, and
how much less every set explains that does not contain the best one. There a number with "+" is of a list that
the time did not complete, and a margin with "open" is not proved.

The matrices are read from `published_covariances.npz` and `slice_covariance.npz` in the folder that
`NSPCA_DATA` names. A row is printed once its certificates are verified against the matrix. `--store` writes
the table to `docs/exact.md`, and the compared rows to `sample_data/papers`, where the Papers page finds them.
"""

import json
import time
from dataclasses import asdict

import numpy as np

import nspca
from benchmarks.optimal import PUBLISHED, matrices
from benchmarks.shared import arguments, head, row, say, store
from nspca.data.folders import sample_folder
from nspca.papers import exact
from nspca.presentation.numerals import percent_down

COMPARED = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved", "CPU s",
    "here, nonnegative", "proved", "CPU s",
)  # fmt: skip
ANSWERS = ("matrix", "n", "k", *(f"{of}{sign}" for sign in ("any sign", "nonnegative") for of in (
    "sets, ", "others lose, ", "CPU s, "
)))  # fmt: skip
"""Names of the columns of the two tables in docs/."""


def solved(A: np.ndarray, k: int, nonneg: bool, nodes: int) -> exact.Ours:
    """Return value, proved share and CPU seconds of one problem, with its certificate verified."""
    started = time.process_time()
    problem = nspca.Problem.from_covariance(A, k, nonneg=nonneg, repair="shift")
    result = nspca.solve(problem, certify="exhaustive", nodes=nodes)
    spent = time.process_time() - started
    nspca.verify(A, result.certificate, problem)
    is_optimal = result.status is nspca.Status.OPTIMAL
    return exact.Ours(result.value, result.ratio, is_optimal, round(spent, 2))


def listed(A: np.ndarray, k: int, nonneg: bool, within: float, seconds: float) -> list[str]:
    """Return number of sets, margin and CPU seconds of one problem, with both certificates verified."""
    problem = nspca.Problem.from_covariance(A, k, nonneg=nonneg, repair="shift")
    result = nspca.solve(problem, certify="exhaustive", seconds=seconds)
    began = time.process_time()
    known = nspca.answers(problem, result, within, seconds=seconds)
    alone = nspca.answers(problem, result, None, seconds=seconds)
    spent = time.process_time() - began
    for one in (known, alone):
        nspca.verify(A, one.certificate, problem)
    margin = percent_down(alone.margin, 4) + ", open" * (not alone.is_complete)
    return [f"{len(known.values)}{'' if known.is_complete else '+'}", margin, f"{spent:.1f}"]


def main() -> None:
    """Print the table, and store it if asked."""
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=600, help="nodes of each search (default 600)")
    parser.add_argument("--answers", action="store_true", help="list the good answers instead")
    parser.add_argument("--within", type=float, default=0.001, help="loss of a good set (default 0.001)")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of each search (default 60)")
    parser.add_argument("--store", action="store_true", help="write the rows and the page")
    args = parser.parse_args()
    found, rows, lines = matrices(), [], [head(ANSWERS if args.answers else COMPARED)]
    say(*lines)
    for one in PUBLISHED:
        if one.matrix not in found:
            parser.error(f"{one.matrix} must be in the folder that NSPCA_DATA names; see docs/exact.md")
        A = found[one.matrix]
        if args.answers:
            both = [listed(A, one.k, sign, args.within, args.seconds) for sign in (False, True)]
            lines.append(row((one.matrix, len(A), one.k, *both[0], *both[1])))
        else:
            signed, nonneg = (solved(A, one.k, sign, args.nodes) for sign in (False, True))
            rows.append(exact.Row(one.matrix, len(A), one.k, one.theirs, signed, nonneg))
            lines.append(row(exact.cells(rows[-1])))
        say(lines[-1])
        if args.store:  # after each row, as the whole takes a while
            store("exact.md", "answers" if args.answers else "published", "\n".join(lines))
    if args.store and rows:
        text = json.dumps([asdict(one) for one in rows], indent=1) + "\n"
        (sample_folder() / "papers" / "exact-methods.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
