"""``pip install nspca`` without its extras: the package and its command line work, and the rest is one
sentence.
"""

import subprocess
import sys
from importlib.metadata import packages_distributions

import h5py
import pandas as pd
from packaging.utils import canonicalize_name

from tests.files import archive
from tests.test_project import ROOT, declared

OF = {module: {*map(canonicalize_name, found)} for module, found in packages_distributions().items()}
# Python code that makes some modules unavailable in its process.
WITHOUT = """
import runpy, sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {modules}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Without())
"""
EXTRA = declared("app") - declared()
OF_EXTRAS = WITHOUT.format(modules=[name for name, of in OF.items() if of <= EXTRA])
ALL_BUT_THE_CORE = WITHOUT.format(modules=[*OF.keys() - {"numpy", "scipy", "threadpoolctl", "nspca"}])


def run(script: str, folder, without: str = OF_EXTRAS) -> subprocess.CompletedProcess:
    path = {"PYTHONPATH": str(ROOT), "NSPCA_HOME": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", without + script], cwd=folder, env=path, capture_output=True, text=True
    )


def test_solve_certify_and_verify_need_numpy_and_scipy_alone(tmp_path):
    """And threadpoolctl, which limits the threads of their BLAS."""
    ended = run(
        """
import numpy as np, nspca
X = np.random.default_rng(0).normal(size=(60, 12))
A = np.cov(X.T)
for data, problem in (
    (X, nspca.Problem.from_data(X, 3)),
    (A, nspca.Problem.from_covariance(A, (3, 2), nonneg=False)),
):
    result = nspca.solve(problem)
    certificate = nspca.certify(problem, result, effort="fast")
    certificate.save("proof.npz")
    assert nspca.verify(data, nspca.Certificate.load("proof.npz"), problem) >= result.value
""",
        tmp_path,
        ALL_BUT_THE_CORE,
    )
    assert ended.returncode == 0, ended.stderr


FILES = {
    "a.parquet": ("Parquet and Feather files", "pyarrow"),
    "a.xlsx": ("Excel files", "python_calamine"),
    "a.zip": ("images", "PIL"),
    "a.h5": ("HDF5 files", "h5py"),
}
READ = """
import nspca
for file in {files}:
    try:
        nspca.read(file)
    except nspca.errors.MissingPackage as error:
        print(error)
"""


def test_a_file_without_its_package_is_one_sentence(tmp_path):
    table = pd.DataFrame({"a": [1.0, 2, 3], "b": [2.0, 1, 5]})
    table.to_parquet(tmp_path / "a.parquet")
    table.to_excel(tmp_path / "a.xlsx", index=False)
    (tmp_path / "a.zip").write_bytes(archive({f"{name}.pgm": b"P5 2 2 255\n\0\1\2\3" for name in "abc"}))
    with h5py.File(tmp_path / "a.h5", "w") as made:
        made["X"] = table.to_numpy()
    ended = run(READ.format(files=[*FILES]), tmp_path)
    assert ended.stdout.splitlines() == [
        f"{what} must have the packages for more formats of files, got no {package}: "
        "pip install 'nspca[files]'"
        for what, package in FILES.values()
    ], ended.stderr


def test_the_package_and_its_command_line_need_nothing_of_the_dashboard(tmp_path):
    ended = run(
        """
import nspca
from nspca.__main__ import main
assert all(getattr(nspca, name) is not None for name in nspca.__all__)
assert main(["solve", "pitprops", "--k", "4", "--certificate", "pitprops.npz"]) == 0
assert main(["sweep", "pitprops", "--k", "2", "--csv", "pitprops.csv"]) == 0
assert main(["backup", "runs"]) in (0, 2)
assert main(["papers", "--stored"]) == 2
""",
        tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    assert (
        "nspca: the report of the papers must have the packages of the dashboard, got no plotly: pip install"
        in (ended.stderr)
    )


def test_the_app_without_its_packages_is_one_sentence(tmp_path):
    ended = run("from nspca.__main__ import main; sys.exit(main(['app', '--port', '1']))", tmp_path)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr == (
        "nspca: the app must have the packages of the dashboard, got no streamlit: pip install 'nspca[app]'\n"
    )
