"""The wheel carries the app and the samples inside the package, and the app starts from there as it does from
the tree.
"""

import importlib.util
import json
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from nspca.cli.app import app_folder, streamlit_command
from tests.test_project import PYPROJECT, ROOT, requirements, tracked_files
from tests.test_start import flags_of


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel built from a copy of the tree with the setuptools that is installed, without the network."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed: pip install -r requirements-test.txt")
    needed = Requirement(PYPROJECT["build-system"]["requires"][0])
    if not needed.specifier.contains(version("setuptools")):
        pytest.skip(
            f"{needed} is needed and setuptools {version('setuptools')} is installed: pip install -r "
            "requirements-test.txt"
        )
    copy = tmp_path_factory.mktemp("tree")
    for path in tracked_files():
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    run = subprocess.run([*command, "--wheel-dir", copy / "out", copy], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return next((copy / "out").glob("*.whl"))


def test_the_wheel_carries_the_app_and_the_samples(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = {path.relative_to(ROOT).as_posix() for path in tracked_files()}
    pages = {f"nspca/_app/{name}" for name in tracked if name.startswith("pages/") and name.endswith(".py")}
    samples = {f"nspca/_{name}" for name in tracked if name.startswith("sample_data/")}
    package = {name for name in tracked if name.startswith("nspca/")}
    assert {"nspca/_app/app.py", "nspca/_app/.streamlit/config.toml"} <= names
    assert pages | samples | package <= names
    assert not [name for name in names if name.startswith(("tests/", "scripts/", "benchmarks/", "pages/"))]


def test_the_wheel_declares_what_the_files_say(wheel):
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()
    declared = [
        Requirement(line.removeprefix("Requires-Dist: "))
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist")
    ]
    plain = {str(requirement) for requirement in declared if requirement.marker is None}
    assert plain == {str(requirement) for requirement in requirements("requirements.txt")}
    assert "License-Expression: BSD-3-Clause" in metadata


def test_the_app_is_found_in_the_tree_and_in_an_installed_wheel(wheel, tmp_path):
    assert app_folder() == ROOT
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = (
        "import json, sys, nspca.cli.app as m; "
        "sys.stdout.write(json.dumps(m.streamlit_command('localhost', 8501, 'localhost')))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    command = json.loads(run.stdout)
    assert Path(command[4]) == tmp_path.resolve() / "nspca" / "_app" / "app.py"
    assert flags_of(command) == flags_of(streamlit_command("localhost", 8501, "localhost"))
