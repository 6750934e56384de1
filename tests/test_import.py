"""`import nspca` loads little, and prints nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nspca

LATER = {
    "pandas",
    "pydantic",
    "pyarrow",
    "sklearn",
    "streamlit",
    "distributed",
    "dask",
    "plotly",
    "PIL",
}
"""Packages of half a second and more in all, that nobody waits for who solves and verifies."""


def run(code: str, *options: str) -> str:
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_name_brings_in_what_it_needs_and_no_more():
    """And no warning, of whatever kind: it would be an error."""
    code = """import sys, nspca
top = lambda: print(*{name.split(".")[0] for name in sys.modules}, sep=",")
top()
A = [[2, 1, 0], [1, 2, 0], [0, 0, 1]]
problem = nspca.Problem.from_covariance(A, 2)
nspca.verify(A, nspca.solve(problem).certificate), nspca.sweep(problem, [1])
top(), print("scipy.special" in sys.modules)"""
    alone, used, special = run(code, "-W", "error").splitlines()
    assert "numpy" not in alone.split(",") and "nspca" in alone.split(",")
    assert {"numpy", "scipy"} <= set(used.split(",")) and not LATER & set(used.split(","))
    assert special == "False"


def test_the_command_line_starts_without_numbers():
    code = "import sys; from nspca.cli.entry import parser; parser(''); print('numpy' in sys.modules)"
    assert run(code, "-W", "error") == "False\n"


def test_figures_start_without_statistics_and_the_app():
    """SciPy's module of distributions takes 22 MB, and nothing on a page needs it at once."""
    code = "import sys, nspca.plots; print({'scipy.stats', 'streamlit'} & {*sys.modules})"
    assert run(code) == "set()\n"


def test_every_public_name_is_there():
    imports = [
        one
        for one in ast.walk(ast.parse(Path(nspca.__file__).read_text()))
        if isinstance(one, ast.ImportFrom)
    ]
    typed = {alias.name for node in imports for alias in node.names if alias.asname}
    assert typed == set(nspca._ROOM) == set(nspca.__all__)
    assert all(getattr(nspca, name) is not None for name in nspca.__all__)
    assert set(nspca.__all__) <= set(dir(nspca))
    assert nspca.papers.ITEMS  # a room without an import of its own
    for name in ("nothing", "_nothing"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(nspca, name)
