"""List the good answers of the matrices of published exact methods: how many are as good, and the margin.

    python -m benchmarks.answers [--within SHARE] [--seconds S] [--store]

Prints one Markdown row per matrix and k, signed and nonnegative: the number of minimal sets that explain more
than ``1 - within`` of the optimum, and how much less every set explains that does not contain the best one.
Every certificate is verified before its row is printed. A number with "+" is of a list that the time did not
complete, and a margin with "open" is not proved. `--store` writes the table to `docs/exact.md`.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import nspca
from benchmarks.optimal import PUBLISHED, matrices
from benchmarks.speed import say
from nspca.presentation.numerals import percent_down

PAGE = Path(__file__).resolve().parents[1] / "docs" / "exact.md"
BEGIN, END = "<!-- made by benchmarks.answers -->", "<!-- end of answers -->"
COLUMNS = ("matrix", "n", "k", *(f"{of}{sign}" for sign in ("any sign", "nonnegative") for of in (
    "sets, ", "others lose, ", "CPU s, "
)))  # fmt: skip
"""Names of the columns of the table in docs/."""


def cells(A: np.ndarray, k: int, nonneg: bool, within: float, seconds: float) -> list[str]:
    """Return number of sets, margin and CPU seconds of one problem."""
    problem = nspca.Problem.from_covariance(A, k, nonneg=nonneg, repair="shift")
    result = nspca.solve(problem, certify="exhaustive", seconds=seconds)
    began = time.process_time()
    known = nspca.answers(problem, result, within, seconds=seconds)
    alone = nspca.answers(problem, result, None, seconds=seconds)
    spent = time.process_time() - began
    for one in (known, alone):
        nspca.verify(A, one.certificate, problem)
    margin = percent_down(alone.margin, 4) if alone.is_complete else f"{percent_down(alone.margin, 4)}, open"
    return [f"{len(known.values)}{'' if known.is_complete else '+'}", margin, f"{spent:.1f}"]


def main() -> None:
    """Print the table, and store it if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--within", type=float, default=0.001, help="loss of a good set (default 0.001)")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of each search (default 60)")
    parser.add_argument("--store", action="store_true", help="write the page")
    args = parser.parse_args()
    found = matrices()
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    say("\n".join(lines))
    for row in PUBLISHED:
        A = found[row.matrix]
        both = [cells(A, row.k, sign, args.within, args.seconds) for sign in (False, True)]
        lines.append(f"| {row.matrix} | {len(A)} | {row.k} | {' | '.join([*both[0], *both[1]])} |")
        say(lines[-1])
        if args.store:  # after each row, as the whole takes a while
            page = PAGE.read_text("utf-8")
            before, after = page.partition(BEGIN)[0], page.partition(END)[2]
            PAGE.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
