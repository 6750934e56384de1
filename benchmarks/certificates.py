"""Measure how much of the unknown optimum certificates prove.

    python -m benchmarks.certificates [--effort standard|thorough] [--only NAME]

Prints one row per data set and k: the best value found, the strongest certificate, the proved fraction, the
costs of both, and the target. Nothing is stored: every row is computed in this run, and every certificate is
verified from the raw data. "cpu s" is what "prove s" would be on an idle machine with one thread. Samples of
`nspca.load_sample` take part if the real data are available (`NSPCA_DATA`). A stand-in is named and left out.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np

import nspca
from benchmarks.speed import say
from nspca.data import prepare
from nspca.numerals import round_down

COLUMNS = "{:<14} {:>4} {:>8} {:>4} {:>12} {:>8} {:>8} {:>7} {:>9} {:>9} {:>11}"


@dataclass(frozen=True)
class Row:
    """One data set of the table; targets are proved fractions, one for all k or one for each."""

    name: str
    sample: str
    ks: tuple[int, ...]
    standard: tuple[float, ...]
    thorough: float
    nonneg: bool = True
    scale: bool = False
    normalised: bool = False

    def target(self, effort, k):
        if effort == "thorough":
            return self.thorough
        return self.standard[self.ks.index(k)] if len(self.standard) > 1 else self.standard[0]


TABLE = (
    Row("pitprops", "pitprops", tuple(range(1, 14)), (0.996,), 1 - 1e-6),
    Row("pitprops +-", "pitprops", tuple(range(1, 14)), (0.996,), 1 - 1e-6, nonneg=False),
    Row("digits", "digits", (5, 10, 20), (0.98,), 0.997),
    Row("LRS", "lrs", (5, 10, 20, 50, 90), (0.998,), 0.9999),
    Row("LRS std", "lrs", (5, 10, 20, 50, 90), (0.998,), 0.9995, scale=True),
    Row("CBCL", "cbcl", (20, 40, 100, 180, 300), (0.99,), 0.998),
    Row("CBCL Lee-Seung", "cbcl", (20, 40, 100, 180), (0.975, 0.985, 0.995, 0.9999), 0.993, normalised=True),
    Row("Leukemia", "leukemia", (20, 50, 100), (0.97, 0.96, 0.975), 0.985),
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
    """Solve, prove, verify, print."""
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
    fraction = f"{value / problem.leading_eigenvalue:.4f}"
    seconds = (f"{solved - started:.2f}", f"{proved - solved:.2f}", f"{busy:.2f}", f"{verified - proved:.2f}")
    say(
        COLUMNS.format(
            name, problem.k, fraction, certificate.kind, least, *seconds, certificate.nbytes, reached
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
        sample = nspca.load_sample(row.sample)
        if sample.source != "real":
            say(f"{row.name}: only a stand-in is here, left out")
            continue
        data = prepare(sample, "lee-seung").X if row.normalised else np.asarray(sample.X, dtype=np.float64)
        make = nspca.Problem.from_covariance if sample.is_covariance else nspca.Problem.from_data
        options = {} if sample.is_covariance else {"scale": row.scale}
        first = make(data, 1, row.nonneg, **options)
        for k in row.ks:
            show(row.name, data, first.with_k(k), chosen.effort, row.target(chosen.effort, k))
    for shape, n, k in NOISE:
        if shape.lower().startswith(wanted):
            A = noise(shape, n)
            show(f"{shape} {n}", A, nspca.Problem.from_covariance(A, k), chosen.effort)


if __name__ == "__main__":
    main()
