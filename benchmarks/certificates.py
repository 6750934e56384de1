"""Measure how much of the unknown optimum certificates prove.

    python -m benchmarks.certificates [--effort standard|thorough] [--only NAME]

Prints one row per data set and k: the best value found, the strongest certificate, the proved fraction, the
costs of both, and the target. Nothing is stored: every row is computed in this run, and every certificate is
verified from the raw data. "cpu s" is what "prove s" would be on an idle machine with one thread. Samples of
`nspca.load_sample` take part if the real data are available (`NSPCA_DATA`). Others are named and left out.
Arcene is read from there too. "cells" is a made-up single-cell table. Sizes such as 5x40 are those of joint
components.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

import nspca
from benchmarks.shared import arguments, say
from benchmarks.tables import LEE_SEUNG, LEUKEMIA, Table
from nspca.presentation.numerals import round_down

COLUMNS = "{:<14} {:>4} {:>8} {:>4} {:>12} {:>8} {:>8} {:>7} {:>9} {:>9} {:>11}"


@dataclass(frozen=True)
class Row:
    """A table, its k, and the proved fractions it should come to: one for all k or one for each."""

    table: Table
    ks: tuple[int | tuple[int, ...], ...]
    standard: tuple[float, ...]
    thorough: float

    def target(self, effort, k):
        if effort == "thorough":
            return self.thorough
        return self.standard[self.ks.index(k)] if len(self.standard) > 1 else self.standard[0]


def cells(m=20_000, n=3_000, seed=4):
    """Return log-normalised counts of cells in eight groups, each with 60 raised genes: (20000, 2429) sparse.

    Genes seen in fewer than ten cells are left out.
    """
    rng = np.random.default_rng(seed)
    base = rng.gamma(0.25, 0.6, size=n)
    raised = [rng.choice(n, 60, replace=False) for _ in range(8)]
    group, blocks = rng.integers(8, size=m), []
    for start in range(0, m, 2000):
        rate = np.tile(base, (min(2000, m - start), 1))
        for i in range(len(rate)):
            rate[i, raised[group[start + i]]] *= 4
        counts = rng.poisson(rate * rng.gamma(4, 0.25, size=(len(rate), 1)))
        total = counts.sum(1, keepdims=True)
        blocks.append(sp.csr_matrix(np.log1p(1e4 * counts / np.maximum(total, 1))))
    X = sp.vstack(blocks, format="csr")
    return X[:, np.flatnonzero(X.getnnz(axis=0) > 9)]


STD = replace(LEUKEMIA, name="Leukemia std", scale=True)
CELLS = Table("cells std", "cells", scale=True)
TABLE = (
    Row(Table("pitprops", "pitprops"), tuple(range(1, 14)), (0.996,), 1 - 1e-6),
    Row(Table("pitprops +-", "pitprops", nonneg=False), tuple(range(1, 14)), (0.996,), 1 - 1e-6),
    Row(Table("digits", "digits"), (5, 10, 20), (0.98,), 0.997),
    Row(Table("LRS", "lrs"), (5, 10, 20, 50, 90), (0.998,), 0.9999),
    Row(Table("LRS std", "lrs", scale=True), (5, 10, 20, 50, 90), (0.998,), 0.9995),
    Row(Table("CBCL", "cbcl"), (20, 40, 100, 180, 300), (0.99,), 0.998),
    Row(LEE_SEUNG, (20, 40, 100, 180), (0.975, 0.985, 0.995, 0.9999), 0.993),
    Row(LEUKEMIA, (20, 50, 100), (0.97, 0.96, 0.975), 0.985),
    Row(STD, (20, 50, 100), (0.99, 0.993, 0.975), 0.995),
    Row(replace(STD, name="Leukemia std +-", nonneg=False), (20, 50, 100), (0.98, 0.983, 0.965), 0.99),
    Row(Table("Arcene std", "arcene", scale=True), (20, 50), (0.998, 0.99), 0.998),
    Row(CELLS, (40,), (0.95,), 0.97),
    Row(STD, ((40,) * 5,), (0.90,), 0.95),
    Row(CELLS, ((15,) * 8,), (0.80,), 0.80),
)
NOISE = tuple((shape, n, k) for shape in ("Wishart", "GOE + shift") for n in (100, 300) for k in (10, 50))


def noise(shape, n):
    """A covariance without structure: n samples of n features, or a symmetric Gaussian matrix shifted to be
    psd.
    """
    G = np.random.default_rng(n).standard_normal((n, n))
    if shape == "Wishart":
        return G.T @ G / n
    S = (G + G.T) / np.sqrt(2 * n)
    return S - np.linalg.eigvalsh(S)[0] * np.eye(n)


def show(name, data, problem, effort, target=None):
    """Solve a problem, prove and verify a bound, and print the row."""
    started = time.perf_counter()
    result = nspca.solve(problem, certify=None)
    value = result.value
    solved = time.perf_counter()
    busy = time.process_time()
    certificate = nspca.certify(problem, result, effort=effort)
    busy, proved = time.process_time() - busy, time.perf_counter()
    nspca.verify(data, certificate)
    verified = time.perf_counter()
    ratio = certificate.ratio(value)
    reached = "" if target is None else f"{target:.7g} " + ("yes" if ratio >= target else "no")
    least = f"{round_down(ratio, 9):.9f}"
    sizes = problem.sizes
    fraction = f"{value / problem.leading_eigenvalue:.4f}"
    seconds = (f"{solved - started:.2f}", f"{proved - solved:.2f}", f"{busy:.2f}", f"{verified - proved:.2f}")
    say(
        COLUMNS.format(
            name,
            f"{len(sizes)}x{sizes[0]}" if problem.joint else problem.k,
            fraction,
            certificate.kind,
            least,
            *seconds,
            certificate.nbytes,
            reached,
        )
    )


def main():
    parser = arguments(__doc__)
    parser.add_argument("--effort", choices=("fast", "standard", "thorough"), default="standard")
    parser.add_argument("--only", metavar="NAME", default="", help="rows whose name begins so")
    chosen = parser.parse_args()
    wanted = chosen.only.lower()
    names = "data k value/l1 kind proved solve_s prove_s cpu_s verify_s bytes target"
    say(COLUMNS.format(*(name.replace("_", " ") for name in names.split())))
    for row in TABLE:
        table = row.table
        if not table.name.lower().startswith(wanted):
            continue
        data = cells() if table is CELLS else table.read()
        if data is None:
            say(f"{table.name}: the original is not here, left out")
            continue
        first = table.problem(data, 1)
        for k in row.ks:
            show(table.name, data, first.with_k(k), chosen.effort, row.target(chosen.effort, k))
    for shape, n, k in NOISE:
        if shape.lower().startswith(wanted):
            A = noise(shape, n)
            show(f"{shape} {n}", A, nspca.Problem.from_covariance(A, k), chosen.effort)


if __name__ == "__main__":
    main()
