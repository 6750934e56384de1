"""Measure dense tables that are long (`--dense`) or wide (`--wide`) for `benchmarks.scale`.

A made-up table of sparse factors with decaying strength and noise is written as a .npy file, and mapped into
memory by each step. The steps find components, prove a bound and verify it, each in a process of its own.
Prints CPU seconds, peak memory and the proved share, for a fast and a standard proof.
"""

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.scale import step
from benchmarks.shared import say

TABLES = {"dense": (50_000, 5_000, 20, 0.6), "wide": (200, 100_000, (40,) * 5, 2.0)}
"""Rows, columns, k, and loading of the strongest feature of the first factor, where noise is 1."""
FACTORS, USED = 8, 60
"""Number of factors, and number of features that each uses."""
DECAY = 0.85
"""Strength of each factor relative to the one before."""
FADING = 0.25
"""The loading of the i-th feature of a factor is ``i**-FADING`` times that of the strongest."""
AT_ONCE = 1_000
"""Rows made at a time."""
STEPS = {
    "solve": """
X = np.load(folder / "table.npy", mmap_mode="r")
problem = nspca.Problem.from_data(X, K)
result = nspca.solve(problem, certify=None)
told = f"search {time.process_time():.1f} s"
for effort in EFFORTS:
    begun = time.process_time()
    certificate = nspca.certify(problem, result, effort=effort)
    certificate.save(folder / "proof.npz")
    proved = format_guarantee(certificate.ratio(result.value))
    told += f", {effort} {time.process_time() - begun:.1f} s, proved {proved} ({certificate.kind})"
used = np.count_nonzero(result.components)
told += f", {planted_found(result.components)} of {used} features are planted"
""",
    "verify": """
X = np.load(folder / "table.npy", mmap_mode="r")
nspca.verify(X, nspca.Certificate.load(folder / "proof.npz"))
told = f"accepted in {time.process_time():.1f} s"
""",
}
"""CPU seconds of search and verify include the start of Python."""
EFFORTS = ("fast", "standard")
"""Efforts of the proofs; the last one is verified."""


def supports(columns: int) -> np.ndarray:
    """Features (FACTORS, USED) of the factors, each factor's strongest first."""
    return np.random.default_rng(1).permutation(columns)[: FACTORS * USED].reshape(FACTORS, USED)


def write(rows: int, columns: int, strength: float, path: Path) -> None:
    """Write the table."""
    rng, features = np.random.default_rng(0), supports(columns)
    loadings = strength * np.outer(DECAY ** np.arange(FACTORS), np.arange(1, USED + 1) ** -FADING)
    table = np.lib.format.open_memmap(path, "w+", np.float64, (rows, columns))
    for start in range(0, rows, AT_ONCE):
        X = rng.standard_normal((min(AT_ONCE, rows - start), columns))
        for J, loading in zip(features, loadings, strict=True):
            X[:, J] += rng.standard_normal((len(X), 1)) * loading
        table[start : start + len(X)] = X
    table.flush()


def planted_found(components: np.ndarray) -> int:
    """Count the features of components (n, r) that belong to the factor which has most of them."""
    found = [np.isin(supports(len(components)), np.flatnonzero(x)).sum(axis=1).max() for x in components.T]
    return int(sum(found))


def run(name: str, place: str | None) -> None:
    """Run the steps of a table."""
    m, n, k, strength = TABLES[name]
    with tempfile.TemporaryDirectory(dir=place) as folder:
        write(m, n, strength, Path(folder) / "table.npy")
        say(f"{name}: {m} x {n}, {8 * m * n / 1e9:.2f} GB, k = {k}")
        for name, body in STEPS.items():
            step(name, folder, body, EFFORTS=EFFORTS, K=k)
