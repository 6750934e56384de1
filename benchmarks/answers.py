"""List the good answers of the matrices of published exact methods: how many are as good, and the margin.

    python -m benchmarks.answers [--within SHARE] [--seconds S] [--store]

Prints one Markdown row per matrix and k, signed and nonnegative: the number of minimal sets that explain more
than ``1 - within`` of the optimum, and how much less every set explains that does not contain the best one.
Every certificate is verified before its row is printed. A number with "+" is of a list that the time did not
complete, and a margin with "open" is not proved. `--store` writes the table to `docs/exact.md`.
"""

import time

import numpy as np

import nspca
from benchmarks.optimal import PUBLISHED, matrices
from benchmarks.shared import arguments, head, row, say, store
from nspca.presentation.numerals import percent_down

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
    parser = arguments(__doc__)
    parser.add_argument("--within", type=float, default=0.001, help="loss of a good set (default 0.001)")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of each search (default 60)")
    parser.add_argument("--store", action="store_true", help="write the page")
    args = parser.parse_args()
    found = matrices()
    lines = [head(COLUMNS)]
    say(*lines)
    for one in PUBLISHED:
        A = found[one.matrix]
        both = [cells(A, one.k, sign, args.within, args.seconds) for sign in (False, True)]
        lines.append(row((one.matrix, len(A), one.k, *both[0], *both[1])))
        say(lines[-1])
        if args.store:  # after each row, as the whole takes a while
            store("exact.md", "answers", "\n".join(lines))


if __name__ == "__main__":
    main()
