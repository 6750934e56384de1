"""List the good answers of the matrices of published exact methods: how many are as good, and the margin.

    python -m benchmarks.answers [--within SHARE] [--seconds S] [--only NAME ...] [--store]

Prints one Markdown row per matrix, k and sign: the number of minimal sets that explain more than
``1 - within`` of the optimum, and how much less every set explains that does not contain the best one. Beside
each are its CPU seconds on one thread, and how many times those of the optimum, which is proved before. Every
certificate is verified before its row is printed. A number with "+" is of a list that the time did not
complete, and a margin with "open" is not the largest. A margin that rounding may hide is "a tie". `--store`
writes the table to `docs/exact.md`.
"""

import time

import numpy as np

import nspca
from benchmarks.optimal import PUBLISHED, matrices
from benchmarks.shared import arguments, head, row, say, store
from nspca.presentation.margins import percent_of
from nspca.presentation.numerals import OPTIMAL_GAP
from nspca.progress import silent
from nspca.proving import EXHAUSTIVE, Search, best_certificate, better, certified

COLUMNS = (
    "matrix", "n", "k", "sign", "optimum, CPU s", "sets", "CPU s", "times", "others lose", "CPU s", "times"
)  # fmt: skip
"""Names of the columns of the table in docs/."""


def optimum(problem: nspca.Problem, seconds: float) -> nspca.Result:
    """Return the answer of effort "exhaustive", without its margin."""
    result, search = nspca.solve(problem, certify=None), Search.of(EXHAUSTIVE, seconds, None, None, None)
    certificate, point = best_certificate(problem, result, EXHAUSTIVE, silent, search)
    return certified(problem, better(problem, result, point), certificate)


def cells(A: np.ndarray, k: int, nonneg: bool, within: float, seconds: float) -> list[str]:
    """Return the cells of one problem from its sign on."""
    problem = nspca.Problem.from_covariance(A, k, nonneg=nonneg, repair="shift")
    began = time.process_time()
    result = optimum(problem, seconds)
    alone = time.process_time() - began
    found = ["nonnegative" if nonneg else "any", f"{alone:.2f}"]
    for asked in (within, None):
        began = time.process_time()
        known = nspca.answers(problem, result, asked, seconds=seconds)
        spent = time.process_time() - began
        nspca.verify(A, known.certificate, problem)
        if asked is None:
            said = percent_of(known.margin) if known.margin > OPTIMAL_GAP else "a tie"
            said += "" if known.is_complete else ", open"
        else:
            said = f"{len(known.values)}{'' if known.is_complete else '+'}"
        found += [said, f"{spent:.2f}", f"{spent / alone:.1f}"]
    return found


def main() -> None:
    """Print the table, and store it if asked."""
    parser = arguments(__doc__)
    parser.add_argument("--within", type=float, default=0.001, help="loss of a good set (default 0.001)")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of each search (default 60)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="matrices (default: all)")
    parser.add_argument("--store", action="store_true", help="write the page")
    args = parser.parse_args()
    found = matrices()
    cells(found["pitprops"], 4, True, args.within, args.seconds)  # what is imported late is imported now
    lines = [head(COLUMNS)]
    say(*lines)
    for one in PUBLISHED:
        if args.only and one.matrix not in args.only:
            continue
        A = found[one.matrix]
        for nonneg in (False, True):
            own = cells(A, one.k, nonneg, args.within, args.seconds)
            lines.append(row((one.matrix, len(A), one.k, *own)))
            say(lines[-1])
        if args.store:  # after each row, as the whole takes a while
            store("exact.md", "answers", "\n".join(lines))


if __name__ == "__main__":
    main()
