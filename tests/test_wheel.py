"""The wheel carries the app and the samples inside the package, and the app starts from there as it does from
the tree.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from nspca.cli.app import app_folder, streamlit_command
from scripts.environment import Failure, install
from tests import servers
from tests.test_project import PYPROJECT, ROOT, tracked_files
from tests.test_start import flags_of


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    """An sdist of a copy of the tree, with the setuptools that is installed and without the network."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed: pip install 'nspca[test]'")
    needed = Requirement(PYPROJECT["build-system"]["requires"][0])
    if not needed.specifier.contains(version("setuptools")):
        pytest.skip(
            f"{needed} is needed and setuptools {version('setuptools')} is installed: pip install "
            "'nspca[test]'"
        )
    copy = tmp_path_factory.mktemp("tree")
    for path in tracked_files():
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    make = "from setuptools import build_meta; build_meta.build_sdist('out')"
    run = subprocess.run([sys.executable, "-c", make], cwd=copy, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return next((copy / "out").glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist) -> Path:
    """The wheel that is made of that sdist: what the tests below say of one holds of both."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run = subprocess.run(
        [*command, "--no-index", "--wheel-dir", sdist.parent, sdist], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return next(sdist.parent.glob("*.whl"))


def test_the_sdist_holds_what_a_wheel_is_made_of_and_no_half_of_the_tests(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md"} <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "benchmarks/"))]


def test_the_wheel_carries_the_app_and_the_samples(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = {path.relative_to(ROOT).as_posix() for path in tracked_files()}
    pages = {f"nspca/_app/{name}" for name in tracked if name.startswith("pages/") and name.endswith(".py")}
    samples = {f"nspca/_{name}" for name in tracked if name.startswith("sample_data/")}
    package = {name for name in tracked if name.startswith("nspca/")}
    assert {"nspca/_app/app.py", "nspca/_app/.streamlit/config.toml"} <= names
    assert pages | samples | package <= names
    assert not [name for name in names if name.startswith(("tests/", "scripts/", "benchmarks/", "pages/"))]


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


# installed

# Python code of a server that ends with the test, however the test ends, and runs in another folder.
HELD = (
    "from tests import servers; servers.hold_on(); "
    "import subprocess, sys; subprocess.run(sys.argv[2:], cwd=sys.argv[1])"
)
# The home page, run once as Streamlit runs it.
HOME_PAGE = """
import sys, nspca.cli.app as main
from streamlit.testing.v1 import AppTest
page = AppTest.from_file(str(main.app_folder() / "app.py"), default_timeout=600).run()
assert not page.exception, page.exception
sys.stdout.write(str(main.app_folder()))
"""


def script(folder: Path, name: str) -> str:
    return str(folder / ("Scripts" if os.name == "nt" else "bin") / name)


def answers(port: int) -> bool:
    try:
        with servers.DIRECT.open(f"http://localhost:{port}/_stcore/health", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def look(url: str) -> None:
    """Open the home page in a browser until its figure is drawn; without a browser nothing is done."""
    if shutil.which("chromium") is None and os.environ.get("NSPCA_REQUIRE_BROWSER") != "1":
        return
    from benchmarks.first import FIGURE, visit
    from benchmarks.served import opened

    with opened() as browser:
        visit(browser, url, FIGURE)


def check(folder: Path, elsewhere: Path, has_app: bool = True) -> None:
    """Prove something with `nspca` of this environment, far from its folder, and start the dashboard. Without
    the requirements of the dashboard, an error says how to install them.
    """
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NSPCA_"))}
    plain["NSPCA_HOME"] = str(elsewhere / "home")
    options = {"cwd": elsewhere, "env": plain, "capture_output": True, "text": True}

    def run(*command: str) -> str:
        ended = subprocess.run(command, **options)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    nspca = script(folder, "nspca")
    assert "2.937" in run(nspca, "solve", "pitprops", "--k", "4")
    run(nspca, "solve", "digits", "--k", "10", "--certificate", "digits.npz")
    assert "proved" in run(nspca, "verify", "digits", "digits.npz")
    port = servers.free_port()
    command = [nspca, "app", "--port", str(port)]
    if not has_app:
        refused = subprocess.run(command, **options)
        assert refused.returncode != 0 and "nspca[app]" in refused.stderr
        return
    home = run(script(folder, "python"), "-c", HOME_PAGE)
    assert home.startswith(str(folder.resolve()))
    server = servers.launch(
        [sys.executable, "-c", HELD, str(elsewhere), *command],
        cwd=ROOT,
        env=plain,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        give_up = time.monotonic() + servers.START_LIMIT
        while not answers(port) and time.monotonic() < give_up:
            time.sleep(0.2)
        assert answers(port)
        look(f"http://localhost:{port}")
    finally:
        server.stdin.close()  # which ends it with all that it started
        server.wait()


@pytest.mark.visit
def test_the_wheel_proves_and_starts_from_any_folder(wheel, tmp_path):
    """In an environment of its own, where the packages that nspca needs are borrowed from this one."""
    environment, elsewhere = tmp_path / "env", tmp_path / "elsewhere"
    elsewhere.mkdir()
    venv.create(environment)
    python = script(environment, "python")
    where = subprocess.check_output([python, "-c", "import site; print(*site.getsitepackages())"], text=True)
    borrowed = [path for path in sys.path if path.endswith("-packages")]
    Path(where.split()[0], "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    run = subprocess.run([*command, "--no-index", wheel], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    check(environment, elsewhere)


@pytest.mark.long
@pytest.mark.parametrize("extra", ["", "[app]"])
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_all_that_it_needs_is_installed_with_it(kind, extra, request, tmp_path):
    """In an environment with nothing borrowed: pip brings what the package says it needs, 600 MB."""
    environment, elsewhere = tmp_path / "env", tmp_path / "elsewhere"
    elsewhere.mkdir()
    wanted = f"nspca{extra} @ {request.getfixturevalue(kind).as_uri()}"
    venv.create(environment, with_pip=True)
    try:
        install(environment, [wanted])
    except Failure as failure:
        if "cannot reach its package index" in str(failure):
            pytest.skip(str(failure))
        raise
    check(environment, elsewhere, has_app=bool(extra))
    shutil.rmtree(environment)  # pytest would keep it with the folders of the last runs
