"""Compare with published exact methods for sparse PCA on their own matrices, signed and nonnegative.

    python -m benchmarks.published [--nodes N] [--store]
    python -m benchmarks.published --answers [--within SHARE] [--seconds S] [--only NAME ... | --store]

Prints one Markdown row per matrix and k: what is published, and the value and proved share of this package,
signed and nonnegative. Nobody else has published certificates for nonnegative components. `--answers` lists
the good answers instead: the number of minimal sets that explain more than ``1 - within`` of the optimum, and
how much less every set explains that does not contain the best one. Beside each are its CPU seconds on one
thread, and how many times those of the optimum, which is proved before. Where the time did not complete a
list, it has all sets above the share that is printed. A margin with "open" is not the largest, and one that
rounding may hide is "a tie".

The matrices are read from `published_covariances.npz` and `slice_covariance.npz` in the folder that
`NSPCA_DATA` names. A row is printed once its certificates are verified against the matrix. `--store` writes
the table to `docs/exact.md` and its rows to `sample_data/papers`, where the Papers page finds them. With
`--answers` it writes the rows to `docs/tables/good-sets.csv`.
"""

import csv
import json
import math
import time
from dataclasses import asdict

import numpy as np

import nspca
from benchmarks.optimal import PUBLISHED, matrices
from benchmarks.shared import DOCS, arguments, head, row, say, store
from nspca.data.catalogue import sample_folder
from nspca.papers import exact
from nspca.presentation.numerals import OPTIMAL_GAP, percent_down, percent_up
from nspca.progress import silent
from nspca.proving import EXHAUSTIVE, Search, best_certificate, better, certified

COMPARED = (
    "matrix", "n", "k", "published, any sign", "here, any sign", "proved", "CPU s",
    "here, nonnegative", "proved", "CPU s",
)  # fmt: skip
ANSWERS = (
    "matrix", "n", "k", "sign", "optimum, CPU s", "sets", "CPU s", "times", "others lose", "CPU s", "times"
)  # fmt: skip
"""Names of the columns of the two tables in docs/."""
GOOD_SETS = DOCS / "tables" / "good-sets.csv"


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
    """Return the cells of one problem from its sign on, with both certificates verified."""
    problem = nspca.Problem.from_covariance(A, k, nonneg=nonneg, repair="shift")
    search = Search.of(EXHAUSTIVE, seconds, None, None, None)
    began = time.process_time()
    result = nspca.solve(problem, certify=None)
    certificate, point = best_certificate(problem, result, EXHAUSTIVE, silent, search)
    result = certified(problem, better(problem, result, point), certificate)
    optimum = time.process_time() - began
    cells = ["nonnegative" if nonneg else "any", f"{optimum:.2f}"]
    for asked in (within, None):
        began = time.process_time()
        known = nspca.answers(problem, result, asked, seconds=seconds)
        spent = time.process_time() - began
        nspca.verify(A, known.certificate, problem)
        if asked is None and known.margin > OPTIMAL_GAP:
            said = percent_down(known.margin, max(0, 2 - math.floor(math.log10(100 * known.margin))))
            said += "" if known.is_complete else ", open"
        elif asked is None:
            said = "a tie" if known.is_complete else "open"
        elif known.is_complete:
            said = f"{len(known.values)}"
        else:
            said = f"all above {percent_up(known.share, 4)}" if known.share < 1 else "open"
        cells += [said, f"{spent:.2f}", f"{spent / optimum:.1f}"]
    return cells


def main() -> None:
    """Print the table, and store it if asked."""
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=600, help="nodes of each search (default 600)")
    parser.add_argument("--answers", action="store_true", help="list the good answers instead")
    parser.add_argument("--within", type=float, default=0.001, help="loss of a good set (default 0.001)")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of each search (default 60)")
    which = parser.add_mutually_exclusive_group()  # what is stored is the whole table
    which.add_argument("--only", nargs="+", metavar="NAME", help="matrices (default: all)")
    which.add_argument("--store", action="store_true", help="write the rows and the page")
    args = parser.parse_args()
    if args.answers:  # what is imported late is imported now
        listed(np.diag([3.0, 2.0, 1.0]), 1, True, args.within, args.seconds)
    found, rows, good, lines = matrices(), [], [ANSWERS], [head(ANSWERS if args.answers else COMPARED)]
    say(*lines)
    for one in PUBLISHED:
        if one.matrix not in found:
            parser.error(f"{one.matrix} must be in the folder that NSPCA_DATA names; see docs/exact.md")
        if args.only and one.matrix not in args.only:
            continue
        A = found[one.matrix]
        if args.answers:
            both = [listed(A, one.k, sign, args.within, args.seconds) for sign in (False, True)]
            good += [(one.matrix, len(A), one.k, *cells) for cells in both]
            lines += map(row, good[-2:])
        else:
            signed, nonneg = (solved(A, one.k, sign, args.nodes) for sign in (False, True))
            rows.append(exact.Row(one.matrix, len(A), one.k, one.theirs, signed, nonneg))
            lines.append(row(exact.cells(rows[-1])))
        say("\n".join(lines[-2:] if args.answers else lines[-1:]))
        if args.store and not args.answers:  # after each row, as the whole takes a while
            store("exact.md", "published", "\n".join(lines))
    if args.store and args.answers:
        with GOOD_SETS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(good)
    if args.store and rows:
        text = json.dumps([asdict(one) for one in rows], indent=1) + "\n"
        (sample_folder() / "papers" / "exact-methods.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
