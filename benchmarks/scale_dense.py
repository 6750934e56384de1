"""Measure dense tables that are long (`--dense`) or wide (`--wide`) for `benchmarks.scale`.

A made-up table of sparse factors with decaying strength and noise is written as a .npy file, and mapped into
memory by each step. The steps find components, prove a bound and verify it, each in a process of its own.
Prints CPU seconds, peak memory and the proved share.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.scale import say

TABLES = {"dense": (50_000, 5_000, 20), "wide": (200, 100_000, (40,) * 5)}
"""Rows, columns and k."""
FACTORS, USED = 8, 60
"""Number of factors, and number of features that each uses."""
STRENGTH, DECAY = 0.6, 0.85
"""Loading of the strongest feature of the first factor, where noise is 1, and the decay from each factor to
the next.
"""
FADING = 0.25
"""The loading of the i-th feature of a factor is ``i**-FADING`` times that of the strongest."""
AT_ONCE = 1_000
"""Rows made at a time."""
STEPS = {
    "solve": """
begun = time.process_time()
X = np.load(folder / "table.npy", mmap_mode="r")
problem = nspca.Problem.from_data(X, K)
result = nspca.solve(problem, certify=None)
solved, begun = time.process_time() - begun, time.process_time()
certificate = nspca.certify(problem, result, effort=EFFORT)
certificate.save(folder / "proof.npz")
told = f"search {solved:.1f} s, proof {time.process_time() - begun:.1f} s, "
told += f"proved {format_guarantee(certificate.ratio(result.value))} ({certificate.kind}), "
told += f"planted features found: {planted_found(result.components)} of {np.count_nonzero(result.components)}"
""",
    "verify": """
begun = time.process_time()
X = np.load(folder / "table.npy", mmap_mode="r")
nspca.verify(X, nspca.Certificate.load(folder / "proof.npz"))
told = f"verify {time.process_time() - begun:.1f} s, accepted"
""",
}


def supports(columns: int) -> np.ndarray:
    """Features (FACTORS, USED) of the factors, each factor's strongest first."""
    return np.random.default_rng(1).permutation(columns)[: FACTORS * USED].reshape(FACTORS, USED)


def write(rows: int, columns: int, path: Path) -> None:
    """Write the table."""
    rng, features = np.random.default_rng(0), supports(columns)
    strength = STRENGTH * DECAY ** np.arange(FACTORS)
    loadings = strength[:, None] * np.arange(1, USED + 1) ** -FADING
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


def run(
    name: str, effort: str, place: str | None, rows: int | None = None, columns: int | None = None
) -> None:
    """Run the steps of a table, smaller if `rows` or `columns` say so."""
    m, n, k = TABLES[name]
    m, n = rows or m, columns or n
    with tempfile.TemporaryDirectory(dir=place) as folder:
        write(m, n, Path(folder) / "table.npy")
        say(f"{name}: {m} x {n}, {8 * m * n / 1e9:.2f} GB, k = {k}")
        for step, body in STEPS.items():
            code = (
                "import sys, time\nfrom pathlib import Path\nimport numpy as np\nimport nspca\n"
                "from benchmarks.scale import peak\nfrom benchmarks.scale_dense import planted_found\n"
                "from nspca.presentation.numerals import format_guarantee\n"
                f"EFFORT, K, folder = {effort!r}, {k!r}, Path(sys.argv[1])\n{body}\n"
                f"print(f'  {step:7s} {{peak():5.2f}} GB peak  {{told}}')\n"
            )
            command = [sys.executable, "-c", code, folder]
            say(subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip())
