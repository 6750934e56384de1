"""Measure how much of the unknown optimum certificates prove.

    python -m benchmarks.certificates [--effort standard|thorough] [--only NAME]

Prints one row per data set and k: the best value found, the strongest certificate, the proved fraction, the
costs of both, and the target. Nothing is stored: every row is computed in this run, and every certificate is
verified from the raw data. "cpu s" is what "prove s" would be on an idle machine with one thread. Samples of
`nspca.load_sample` take part if the real data are available (`NSPCA_DATA`). Others are named and left out.
Arcene is read from there too. "cells" is a made-up single-cell table. Sizes such as 5x40 are those of joint
components.
"""

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import nspca
from benchmarks.speed import say
from nspca.data import prepare
from nspca.presentation.numerals import round_down

COLUMNS = "{:<14} {:>4} {:>8} {:>4} {:>12} {:>8} {:>8} {:>7} {:>9} {:>9} {:>11}"


@dataclass(frozen=True)
class Row:
    """One data set of the table; targets are proved fractions, one for all k or one for each.

    The sample may be one of `nspca.load_sample`, a file of NSPCA_DATA, or "cells".
    """

    name: str
    sample: str
    ks: tuple[int | tuple[int, ...], ...]
    standard: tuple[float, ...]
    thorough: float
    nonneg: bool = True
    scale: bool = False
    normalised: bool = False

    def target(self, effort, k):
        if effort == "thorough":
            return self.thorough
        return self.standard[self.ks.index(k)] if len(self.standard) > 1 else self.standard[0]

    def data(self):
        """Return the table and whether it is a covariance; None where the original is not here."""
        if self.sample == "cells":
            return cells(), False
        if self.sample.endswith(".npz"):
            path = Path(os.environ.get("NSPCA_DATA", ".")) / self.sample
            if not path.is_file():
                return None
            X = np.load(path, allow_pickle=False)["X"].astype(np.float64)
            return X[:, np.ptp(X, axis=0) > 0], False
        sample = nspca.load_sample(self.sample)
        if sample.source != "real":
            return None
        X = prepare(sample, "lee-seung").X if self.normalised else np.asarray(sample.X, dtype=np.float64)
        return X, sample.is_covariance


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


TABLE = (
    Row("pitprops", "pitprops", tuple(range(1, 14)), (0.996,), 1 - 1e-6),
    Row("pitprops +-", "pitprops", tuple(range(1, 14)), (0.996,), 1 - 1e-6, nonneg=False),
    Row("digits", "digits", (5, 10, 20), (0.98,), 0.997),
    Row("LRS", "lrs", (5, 10, 20, 50, 90), (0.998,), 0.9999),
    Row("LRS std", "lrs", (5, 10, 20, 50, 90), (0.998,), 0.9995, scale=True),
    Row("CBCL", "cbcl", (20, 40, 100, 180, 300), (0.99,), 0.998),
    Row("CBCL Lee-Seung", "cbcl", (20, 40, 100, 180), (0.975, 0.985, 0.995, 0.9999), 0.993, normalised=True),
    Row("Leukemia", "leukemia", (20, 50, 100), (0.97, 0.96, 0.975), 0.985),
    Row("Leukemia std", "leukemia", (20, 50, 100), (0.99, 0.993, 0.975), 0.995, scale=True),
    Row("Leukemia std +-", "leukemia", (20, 50, 100), (0.98, 0.983, 0.965), 0.99, nonneg=False, scale=True),
    Row("Arcene std", "arcene.npz", (20, 50), (0.998, 0.99), 0.998, scale=True),
    Row("cells std", "cells", (40,), (0.95,), 0.97, scale=True),
    Row("Leukemia std", "leukemia", ((40,) * 5,), (0.90,), 0.95, scale=True),
    Row("cells std", "cells", ((15,) * 8,), (0.80,), 0.80, scale=True),
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
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.certificates", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--effort", choices=("fast", "standard", "thorough"), default="standard")
    parser.add_argument("--only", metavar="NAME", help="rows whose name begins so")
    chosen = parser.parse_args()
    wanted = (chosen.only or "").lower()
    say(
        COLUMNS.format(
            "data",
            "k",
            "value/l1",
            "kind",
            "proved",
            "solve s",
            "prove s",
            "cpu s",
            "verify s",
            "bytes",
            "target",
        )
    )
    for row in TABLE:
        if not row.name.lower().startswith(wanted):
            continue
        found = row.data()
        if found is None:
            say(f"{row.name}: the original is not here, left out")
            continue
        data, is_covariance = found
        make = nspca.Problem.from_covariance if is_covariance else nspca.Problem.from_data
        options = {} if is_covariance else {"scale": row.scale}
        first = make(data, 1, row.nonneg, **options)
        for k in row.ks:
            show(row.name, data, first.with_k(k), chosen.effort, row.target(chosen.effort, k))
    for shape, n, k in NOISE:
        if shape.lower().startswith(wanted):
            A = noise(shape, n)
            show(f"{shape} {n}", A, nspca.Problem.from_covariance(A, k), chosen.effort)


if __name__ == "__main__":
    main()
