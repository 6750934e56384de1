"""Contenders of the comparison: this package's methods, and other packages that may be installed.

A peer is called as its own documentation says, for one component and with its defaults. The function of each
peer states any exception. A package that is not installed is no error: its rows say so.
"""

import importlib.util
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import nspca
from benchmarks.peers.measuring import WAIT, Run, beyond, limited, measured
from benchmarks.peers.tables import Table

SEED = 0
SMALL = np.random.default_rng(1).random((60, 12))
"""Table on which every contender warms up."""
READING = 5.0
"""CPU seconds that R may take to start and read the table; they are not counted."""
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Contender:
    """A method or package that takes part in the comparison.

    Parameters
    ----------
    name : str
    run : callable
        ``run(X, k, nonneg, setting)``: loadings (n, r) and a certificate or None.
    ours : bool
    by_sign : bool
        Whether the contender has an option for the sign; else one run counts for both signs.
    nonneg_only : bool
    dense : bool
        Whether sparse tables are passed as dense ones.
    settings : callable
        ``settings(table, k)`` returns settings that are all tried; the best value counts.
    there : callable
        ``there()`` returns why the contender cannot take part at all; empty if it can.
    lacks : callable
        ``lacks(table)`` returns why the contender cannot work on a table; empty if it can.
    measure : callable, optional
        ``measure(table, k, nonneg, limit)``, for a contender that does not run in Python.
    """

    name: str
    run: Callable | None = None
    ours: bool = False
    by_sign: bool = False
    nonneg_only: bool = False
    dense: bool = True
    settings: Callable = lambda table, k: (None,)
    there: Callable = lambda: ""
    lacks: Callable = lambda table: ""
    measure: Callable | None = None

    def measured(self, table: Table, k: int, nonneg: bool, setting, limit: float) -> Run:
        """Return one run, measured in a process of its own."""
        if self.measure:
            return self.measure(table, k, nonneg, limit)
        X = table.dense if self.dense else table.X
        small = sp.csr_array(SMALL) if sp.issparse(X) else SMALL
        return measured(
            partial(self.run, X, k, nonneg, setting), partial(self.run, small, 4, nonneg, setting), limit
        )


# ours


def solved(method, certify, X, k, nonneg, setting):
    """Return the answer of a method of this package, the making of the problem included."""
    result = nspca.solve(nspca.Problem.from_data(X, k, nonneg), method, seed=SEED, certify=certify)
    return result.components, result.certificate


# others of Python


def without(package: str) -> str:
    return "" if importlib.util.find_spec(package.lower()) else "not installed"


def penalties(table: Table, k: int) -> tuple[float, ...]:
    """alpha of `SparsePCA`: its default, and the one that leaves 3k entries of the first principal component.

    It has no k; of several, 3k did best on faces, digits and spectra. Finding it costs the peer no time.
    """
    Z = table.dense - table.dense.mean(axis=0)
    gram = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
    u = np.linalg.eigh(gram)[1][:, -1] if len(gram) < 1000 else _leading(gram)
    scores = u if len(Z) < Z.shape[1] else Z @ u
    size = np.sort(np.abs(Z.T @ scores) / np.linalg.norm(scores))[::-1]
    return 1.0, float(size[min(3 * k, size.size - 1)])


def _leading(gram):
    return spla.eigsh(gram, 1, v0=np.ones(len(gram)))[1][:, 0]


def sparse_pca(name, X, k, nonneg, setting):
    """Return the loading of `SparsePCA`."""
    from sklearn import decomposition

    model = getattr(decomposition, name)(n_components=1, alpha=setting, random_state=SEED)
    return _quietly(model.fit, X).components_.T, None


def factorised(X, k, nonneg, setting):
    """Return the ten parts of an NMF, after features with negative numbers are moved up."""
    from sklearn.decomposition import NMF

    if not sp.issparse(X):
        X = X - np.minimum(X.min(axis=0), 0.0)
    return _quietly(NMF(setting, random_state=SEED).fit, X).components_.T, None


def _quietly(fit, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of steps that were not enough: the value shows it
        return fit(X)


def spliced(X, k, nonneg, setting):
    """Return the component of abess, which has no constraint on signs."""
    from abess.decomposition import SparsePCA

    return np.reshape(SparsePCA(support_size=k).fit(X).coef_, (X.shape[1], -1)), None


def fewer_samples(table: Table) -> str:
    """Return why abess cannot take a table: with fewer samples than features it answers with ones."""
    return "no component with fewer samples than features" if table.shape[0] < table.shape[1] else ""


def ported(X, k, nonneg, setting):
    """Return the component of nnPCApy, a port of nsprcomp to Python that has no k."""
    from nnpcapy import nsprcomp

    np.random.seed(SEED)  # noqa: NPY002 - nnPCApy draws from the global generator
    return nsprcomp(X, ncomp=1, nneg=nonneg)["rotation"], None


# nsprcomp


@cache
def without_nsprcomp() -> str:
    if not shutil.which("Rscript"):
        return "R is not installed"
    asked = ["Rscript", "-e", 'cat(requireNamespace("nsprcomp", quietly = TRUE))']
    said = subprocess.run(asked, capture_output=True, text=True).stdout
    return "" if said.endswith("TRUE") else "R has no package nsprcomp"


def in_r(table: Table, k: int, nonneg: bool, limit: float) -> Run:
    """Return the answer of nsprcomp in R, with its default of five restarts."""
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "table"), Path(folder, "out")
        table.dense.T.tofile(given)
        command = ["Rscript", HERE / "nsprcomp.R", given, *table.shape, k, int(nonneg), out]
        try:
            ended = subprocess.run(
                [str(word) for word in command], capture_output=True, text=True, timeout=WAIT * limit,
                preexec_fn=partial(limited, limit + READING),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Run(failed=beyond(limit))
        if ended.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            return Run(failed=beyond(limit))
        if ended.returncode:
            return Run(failed=(ended.stderr.strip().splitlines() or ["R failed"])[-1])
        cpu, wall, memory, *loading = np.fromfile(out)
    if cpu > limit:
        return Run(failed=beyond(limit))
    return Run(np.array(loading)[:, None], None, cpu, wall, max(memory, 0.0))


def _ours(name: str, method: str, certify: str | None = None) -> Contender:
    return Contender(name, partial(solved, method, certify), ours=True, by_sign=True, dense=False)


CONTENDERS = (
    Contender("SparsePCA", partial(sparse_pca, "SparsePCA"), settings=penalties),
    Contender("MiniBatchSparsePCA", partial(sparse_pca, "MiniBatchSparsePCA"), settings=penalties),
    Contender(
        "NMF",
        factorised,
        nonneg_only=True,
        dense=False,
        settings=lambda table, k: (min(10, *table.shape),),
    ),
    Contender("abess", spliced, there=partial(without, "abess"), lacks=fewer_samples),
    Contender("nnPCApy", ported, by_sign=True, there=partial(without, "nnPCApy")),
    Contender("nsprcomp", by_sign=True, there=without_nsprcomp, measure=in_r),
    _ours("threshold", "threshold"),
    _ours("em", "em"),
    _ours("tpower", "tpower"),
    _ours("auto", "auto"),
    _ours("auto, proved", "auto", "fast"),
)


def versions() -> dict[str, str]:
    """Return the versions of all contenders and of what they need."""
    import numpy
    import scipy
    import sklearn

    found = {"nspca": nspca.__version__, "NumPy": numpy.__version__, "SciPy": scipy.__version__}
    found["scikit-learn"] = sklearn.__version__
    for package in ("abess", "nnPCApy"):
        if not without(package):
            found[package] = version(package.lower())
    if not without_nsprcomp():
        asked = 'cat(as.character(packageVersion("nsprcomp")), "with R", as.character(getRversion()))'
        ended = subprocess.run(["Rscript", "-e", asked], capture_output=True, text=True)
        found["nsprcomp"] = ended.stdout.strip()
    return found


def preloaded() -> None:
    """Import the packages of all contenders, so that no copy of this process has to."""
    import sklearn.decomposition  # noqa: F401

    for module in ("abess.decomposition", "nnpcapy"):
        if not without(module.partition(".")[0]):
            import_module(module)
