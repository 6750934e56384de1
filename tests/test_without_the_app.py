"""``pip install nspca`` without the dashboard: the package and its command line work, and the rest is one
sentence.
"""

import subprocess
import sys

import pytest

from tests.test_project import ROOT, declared

# Python code that makes the packages of the dashboard unavailable in its process.
WITHOUT = f"""
import runpy, sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {sorted(declared("requirements-app.txt"))}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Without())
"""


def run(script: str, folder) -> subprocess.CompletedProcess:
    path = {"PYTHONPATH": str(ROOT), "NSPCA_HOME": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + script], cwd=folder, env=path, capture_output=True, text=True
    )


def test_the_package_and_its_command_line_need_nothing_of_the_dashboard(tmp_path):
    ended = run(
        """
import nspca
from nspca.__main__ import main
assert all(getattr(nspca, name) is not None for name in nspca.__all__)
assert main(["solve", "pitprops", "--k", "4", "--certificate", "pitprops.npz"]) == 0
assert main(["verify", "pitprops", "pitprops.npz", "--k", "4"]) == 0
assert main(["sweep", "pitprops", "--k", "2,4", "--csv", "pitprops.csv"]) == 0
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


@pytest.mark.parametrize(
    "start",
    [
        "runpy.run_module('nspca.dashboard.app.serve', run_name='__main__')",
        "from nspca.__main__ import main; sys.exit(main(['app', '--port', '1']))",
    ],
)
def test_the_app_without_its_packages_is_one_sentence(tmp_path, start):
    ended = run(start, tmp_path)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr == (
        "nspca: the app must have the packages of the dashboard, got no streamlit: pip install 'nspca[app]'\n"
    )
