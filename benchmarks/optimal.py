"""Prove optima: effort "exhaustive" on real data and on matrices of published exact methods.

    python -m benchmarks.optimal [--seconds S] [--only NAME]
    python -m benchmarks.optimal --sweep CBCL [--every STEP] [--seconds S]

Prints one Markdown row per problem: the value, the proved fraction, nodes, CPU seconds of solve and proof
together, size of the certificate file and CPU seconds of its check. Each certificate is verified from the raw
data before its row is printed. Nothing is stored. The published matrices are read from the folder that
`NSPCA_DATA` names (`published_covariances.npz`, `slice_covariance.npz`).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import nspca
from benchmarks.shared import arguments, head, row, say
from benchmarks.tables import FOLDER, LEE_SEUNG, LEUKEMIA, Table
from nspca.presentation.numerals import round_down

SHIFT = 1e-7
"""Added to the diagonal of a published matrix: written in single precision, some are not quite psd."""


@dataclass(frozen=True)
class Published:
    """A matrix, its k, and what is published of its optimum."""

    matrix: str
    k: int
    theirs: str


PUBLISHED = (
    *(Published("pitprops", k, "exact, 3 to 8 s") for k in range(4, 11)),
    Published("normwine", 5, "3.43978"),
    Published("normwine", 10, "4.59429"),
    Published("normMiniBooNE", 5, "5.0000"),
    Published("normMiniBooNE", 10, "9.99999"),
    Published("communities", 5, ".2771"),
    Published("communities", 10, ".4452"),
    Published("normCommunities", 5, "4.86051"),
    Published("normCommunities", 10, "8.8236"),
    Published("normArrhythmia", 5, "4.2321, said to be the optimum"),
    Published("normArrhythmia", 10, "7.53938"),
    Published("Eisen1", 10, "gap 1e-5 %, 551 s"),
    Published("Eisen1", 20, "gap 3e-4 %, 520 s"),
    Published("Eisen2", 10, "over 3600 s"),
    Published("Eisen2", 20, "over 3600 s"),
    Published("digits", 10, "gap 88.5 %"),
    Published("digits", 20, "gap 31.3 %"),
    *(Published(name, k, "") for name in ("gas", "song", "buzz") for k in (10, 20)),
    *(Published(name, k, "") for name in ("housing", "keggdirected", "pol", "wdbc") for k in (5, 10)),
    *(Published(name, k, "") for name in ("spambase", "dermatology") for k in (5, 10, 20)),
    *(Published(name, k, "none, CCA only") for name in ("slice", "normSlice") for k in (5, 10, 20)),
)


REAL = (
    (Table("CBCL", "cbcl"), (20, 40, 100, 180)),
    (LEE_SEUNG, (33, 40, 100)),
    (replace(LEE_SEUNG, name="CBCL Lee-Seung, signed", nonneg=False), (33,)),
    (Table("LRS", "lrs"), (5, 10, 20, 50, 90)),
    (LEUKEMIA, (20, 50)),
    (replace(LEUKEMIA, name="Leukemia, signed", nonneg=False), (20,)),
    (Table("Isolet, standardised", "isolet_fold1560", scale=True), (50,)),
    (Table("mfeat", "mfeat_pix"), (40,)),
    (Table("digits as they are, signed", "digits", nonneg=False), (12, 20)),
)
"""Tables of real data, and the k of each."""


def matrices() -> dict[str, np.ndarray]:
    """Return the matrices of published exact methods by name, made symmetric, for those that are there.

    NaN stands for 0, as in the code that they came with. "normSlice" is the correlation of the features of
    "slice" that vary.
    """
    found: dict[str, np.ndarray] = {}
    for file in (FOLDER / "published_covariances.npz", FOLDER / "slice_covariance.npz"):
        if file.is_file():
            with np.load(file, allow_pickle=False) as held:
                found |= {name: np.nan_to_num(held[name].astype(np.float64)) for name in held.files}
    if "slice" in found:
        deviations = np.sqrt(np.diag(found["slice"]))
        kept = np.flatnonzero(deviations)
        found["normSlice"] = found["slice"][np.ix_(kept, kept)] / np.outer(deviations[kept], deviations[kept])
    return {name: (A + A.T) / 2 for name, A in found.items()}


def problems(sweep: str | None, step: int) -> Iterator[tuple[str, str, np.ndarray, nspca.Problem]]:
    """Yield name, what is published, data and problem of each row; of a `sweep`, every `step`-th k of one
    table.
    """
    found = {} if sweep else matrices()
    for nonneg in (False, True):
        for known in PUBLISHED:
            if known.matrix in found:
                A = found[known.matrix] + SHIFT * np.eye(len(found[known.matrix]))
                name = f"{known.matrix}, {'nonnegative' if nonneg else 'signed'}"
                theirs = "" if nonneg else known.theirs
                yield name, theirs, A, nspca.Problem.from_covariance(A, known.k, nonneg=nonneg)
    for table, ks in REAL:
        if sweep not in (None, table.name) or (X := table.read()) is None:
            continue
        first = table.problem(X, 1)
        for k in range(1, first.n + 1, step) if sweep else ks:
            yield table.name, "", X, first.with_k(k)


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="wall time of each search (default 60)")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose name has this in it")
    parser.add_argument("--k", type=int, nargs="+", help="rows with one of these k")
    parser.add_argument("--sweep", choices=[table.name for table, _ in REAL], help="all k of a table instead")
    parser.add_argument("--every", type=int, default=1, help="with --sweep: every so many k (default 1)")
    args = parser.parse_args()
    say(head(("data", "k", "published", "value", "proved", "nodes", "CPU s", "MB", "check, CPU s")))
    count = optimal = 0
    began = time.process_time()
    for name, theirs, data, problem in problems(args.sweep, max(args.every, 1)):
        if args.only not in name or (args.k and problem.k not in args.k):
            continue
        started = time.process_time()
        result = nspca.solve(problem, certify="exhaustive", seconds=args.seconds)
        spent, proof = time.process_time() - started, result.certificate
        started = time.process_time()
        nspca.verify(data, proof, problem)
        check, size = time.process_time() - started, len(proof.to_bytes()) / 1e6
        ratio = proof.ratio(result.value)
        proved = "optimal" if result.status is nspca.Status.OPTIMAL else f"{round_down(ratio, 6)}"
        value = result.value - (SHIFT if problem.covariance.source == "covariance" else 0.0)
        nodes = len(proof.witness.get("branch", ()))
        cells = (name, problem.k, theirs, f"{value:.7g}", proved, nodes, f"{spent:.1f}", f"{size:.2f}")
        say(row((*cells, f"{check:.1f}")))
        count, optimal = count + 1, optimal + (proved == "optimal")
    say(f"{optimal} of {count} proved optimal, {time.process_time() - began:.0f} CPU seconds in all")


if __name__ == "__main__":
    main()
