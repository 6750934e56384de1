"""Prove optima: effort "exhaustive" on real data and on matrices of published exact methods.

    python -m benchmarks.optimal [--seconds S] [--only NAME]
    python -m benchmarks.optimal --sweep CBCL [--every STEP] [--seconds S]

Prints one Markdown row per problem: the value, the proved fraction, nodes, CPU seconds of solve and proof
together, size of the certificate file and CPU seconds of its check. Each certificate is verified from the raw
data before its row is printed. Nothing is stored. The published matrices are read from the folder that
`NSPCA_DATA` names (`published_covariances.npz`, `slice_covariance.npz`).
"""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nspca
from benchmarks.speed import say
from nspca.data import prepare
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


@dataclass(frozen=True)
class Table:
    """Real data, and the problems that are posed of them.

    Attributes
    ----------
    name : str
        As it is printed.
    source : str
        Name of a sample, or of a file of `NSPCA_DATA` without its ending.
    ks : tuple of int
    lee_seung : bool
        Whether the table is prepared as in the paper of Lee and Seung.
    nonneg, scale : bool
        As for `Problem`.
    """

    name: str
    source: str
    ks: tuple[int, ...]
    lee_seung: bool = False
    nonneg: bool = True
    scale: bool = False

    def read(self) -> np.ndarray | None:
        """Return the table; None where the data are not there."""
        if self.source in nspca.data.SAMPLES:
            dataset = nspca.load_sample(self.source)
            if dataset.source == "relative":
                return None
            return prepare(dataset, "lee-seung").X if self.lee_seung else np.asarray(dataset.X, np.float64)
        file = FOLDER / f"{self.source}.npz"
        if not file.is_file():
            return None
        with np.load(file, allow_pickle=False) as held:
            return np.asarray(held["X"], dtype=np.float64)


FOLDER = Path(os.environ.get("NSPCA_DATA", ""))
REAL = (
    Table("CBCL", "cbcl", (20, 40, 100, 180)),
    Table("CBCL Lee-Seung", "cbcl", (33, 40, 100), lee_seung=True),
    Table("CBCL Lee-Seung, signed", "cbcl", (33,), lee_seung=True, nonneg=False),
    Table("LRS", "lrs", (5, 10, 20, 50, 90)),
    Table("Leukemia", "leukemia", (20, 50)),
    Table("Leukemia, signed", "leukemia", (20,), nonneg=False),
    Table("Isolet, standardised", "isolet_fold1560", (50,), scale=True),
    Table("mfeat", "mfeat_pix", (40,)),
    Table("digits as they are, signed", "digits", (12, 20), nonneg=False),
)


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


def problems(args) -> Iterator[tuple[str, str, np.ndarray, nspca.Problem]]:
    """Yield name, what is published, data and problem of each row."""
    found = matrices()
    for nonneg in (False, True):
        for row in PUBLISHED:
            if row.matrix in found:
                A = found[row.matrix] + SHIFT * np.eye(len(found[row.matrix]))
                name = f"{row.matrix}, {'nonnegative' if nonneg else 'signed'}"
                theirs = "" if nonneg else row.theirs
                yield name, theirs, A, nspca.Problem.from_covariance(A, row.k, nonneg=nonneg)
    for table in REAL:
        if args.only and args.only not in table.name:
            continue
        X = table.read()
        for k in table.ks if X is not None else ():
            yield table.name, "", X, nspca.Problem.from_data(X, k, table.nonneg, scale=table.scale)


def sweep(name: str, step: int) -> Iterator[tuple[str, str, np.ndarray, nspca.Problem]]:
    """Yield a row for every `step`-th k, from 1 to the number of features of a table."""
    table = next(one for one in REAL if one.name == name)
    X = table.read()
    if X is None:
        return
    first = nspca.Problem.from_data(X, 1, table.nonneg, scale=table.scale)
    for k in range(1, first.n + 1, step):
        yield name, "", X, first.with_k(k)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="wall time of each search (default 60)")
    parser.add_argument("--only", metavar="TEXT", help="rows whose name has this in it")
    parser.add_argument("--k", type=int, nargs="+", help="rows with one of these k")
    parser.add_argument("--sweep", choices=[one.name for one in REAL], help="all k of a table instead")
    parser.add_argument("--every", type=int, default=1, help="with --sweep: every so many k (default 1)")
    args = parser.parse_args()
    say("| data | k | published | value | proved | nodes | CPU s | MB | check, CPU s |")
    say("|---|---|---|---|---|---|---|---|---|")
    count = optimal = 0
    began = time.process_time()
    rows = sweep(args.sweep, max(args.every, 1)) if args.sweep else problems(args)
    for name, theirs, data, problem in rows:
        if (args.only and args.only not in name) or (args.k and problem.k not in args.k):
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
        say(f"| {' | '.join(map(str, cells))} | {check:.1f} |")
        count, optimal = count + 1, optimal + (proved == "optimal")
    say(f"{optimal} of {count} proved optimal, {time.process_time() - began:.0f} CPU seconds in all")


if __name__ == "__main__":
    main()
