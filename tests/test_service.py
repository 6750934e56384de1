"""The files of deploy/ that install and start the dashboard do so: their own steps, in an environment of the
test.
"""

import base64
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from nspca.cli.entry import parser
from tests import servers
from tests.patience import STUCK, wait_for
from tests.test_project import ROOT, tracked_files
from tests.test_wheel import HELD, script, sdist, wheel  # noqa: F401  (fixtures)

UNIT = ROOT / "deploy" / "nspca.service"
TEXT = UNIT.read_text(encoding="utf-8")
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
# Maximum exposure by `systemd-analyze security`, in tenths; a unit without any settings has 100.
MOST_EXPOSED = 15
# Commands that would change this machine: its users, folders of the system, and services.
OF_THE_SYSTEM = ("useradd", "systemctl", "journalctl", "mkdir", "chown")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="systemd and Docker run on Linux")
environments = pytest.mark.parametrize(
    "fresh",
    [
        pytest.param(False, marks=pytest.mark.visit, id="borrowed packages"),
        pytest.param(True, marks=pytest.mark.long, id="packages from the index"),
    ],
)


def settings(name: str) -> list[str]:
    """Return the values of a setting of the unit, in order."""
    return re.findall(rf"^{name}=(.*)$", TEXT, flags=re.MULTILINE)


def steps() -> list[str]:
    """Return the commands that the head of the unit tells to run."""
    return re.findall(r"^# {5}(.+)$", TEXT.partition("[Unit]")[0], flags=re.MULTILINE)


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, with what they are given."""
    lines = DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line and not line.startswith("#")]


# read


def test_the_unit_installs_what_the_app_needs():
    install = next(shlex.split(step) for step in steps() if " pip install " in step)
    assert Requirement(re.sub(r"\$\(.*\)", "x.whl", install[-1])).extras == {"app"}
    (command,) = settings("ExecStart")
    assert shlex.split(command)[0] == install[0] and shlex.split(command)[1:3] == ["-m", "nspca"]
    assert parser().parse_args(shlex.split(command)[3:]).address == "localhost"


def test_a_worker_that_runs_out_of_memory_does_not_stop_the_unit():
    """By itself systemd stops all of a unit when the system ends one of its processes for memory."""
    assert settings("MemoryMax") and settings("OOMPolicy") == ["continue"]


def test_systemd_finds_little_to_say_about_the_unit():
    tool = shutil.which("systemd-analyze") or pytest.skip("systemd-analyze is not installed")
    command = [tool, "security", "--no-pager", "--offline=true", f"--threshold={MOST_EXPOSED}", UNIT]
    run = subprocess.run(command, capture_output=True, text=True)
    if "unrecognized option" in run.stderr:
        pytest.skip("this systemd-analyze reads no files")
    assert run.returncode == 0, run.stdout + run.stderr
    checked = subprocess.run([tool, "verify", UNIT], capture_output=True, text=True)
    found = [
        line for line in checked.stderr.splitlines() if UNIT.name in line and "not executable" not in line
    ]
    assert not found


def test_proxies_lead_to_the_port_of_the_dashboard():
    (command,) = settings("ExecStart")
    port = parser().parse_args(shlex.split(command)[3:]).port
    caddy = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    nginx = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"reverse_proxy (\S+)", caddy) == [f"127.0.0.1:{port}"]
    assert {*re.findall(r"proxy_pass (\S+);", nginx)} == {f"http://127.0.0.1:{port}"}
    for text in (caddy, nginx):
        name = re.search(r"STREAMLIT_SERVER_ALLOWED_HOSTS=(\S+)", text)[1]
        assert f"\n{name} {{" in text or f"server_name {name};" in text


# run


def environment_of(folder: Path, fresh: bool) -> dict[str, str]:
    """Make a virtual environment; return the variables with which pip installs into it.

    Unless it is fresh, the packages that nspca needs are borrowed from this one, and pip asks no index.
    """
    venv.create(folder, with_pip=True)
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NSPCA_"))}
    plain["PATH"] = f"{folder / 'bin'}{os.pathsep}{plain['PATH']}"
    if fresh:
        return plain
    # An environment brings an old setuptools of its own, which would come before the borrowed one.
    old = [script(folder, "python"), "-m", "pip", "uninstall", "--yes", "--quiet", "setuptools"]
    subprocess.run(old, check=True, stdout=subprocess.DEVNULL)
    where = subprocess.check_output(
        [script(folder, "python"), "-c", "import site; print(*site.getsitepackages())"], text=True
    )
    borrowed = [path for path in sys.path if path.endswith("-packages")]
    Path(where.split()[0], "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
    # pip then builds with the installed packages: the variable sets the option --build-isolation to 0.
    return plain | {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}


def run_step(step: str, folder: Path, variables: dict[str, str], fresh: bool) -> None:
    run = subprocess.run(["sh", "-ec", step], cwd=folder, env=variables, capture_output=True, text=True)
    if fresh and run.returncode and "cannot reach" in run.stderr + run.stdout:
        pytest.skip("the package index cannot be reached")
    assert run.returncode == 0, f"{step}\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}"


class Running:
    """A server that a command starts, in a folder far from the tree; ends with the test."""

    def __init__(self, command: list[str], folder: Path, variables: dict[str, str], port: int):
        self.port = port
        self.log = folder / "log"
        log = self.log.open("wb")
        held = [sys.executable, "-c", HELD, str(folder), *command]
        self.process = servers.launch(held, cwd=ROOT, env=variables, stdout=log, stderr=log)

    def __enter__(self):
        wait_for(lambda: self.process.poll() is not None or self.ask("/_stcore/health") == 200, pause=0.2)
        assert self.process.poll() is None, self.log.read_text()
        return self

    def ask(self, path: str = "/", **heads: str) -> int:
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=heads)
        try:
            with servers.DIRECT.open(asked, timeout=STUCK) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def __exit__(self, *error):
        self.process.stdin.close()  # which ends it with all that it started
        self.process.wait(STUCK)


@environments
def test_the_service_installs_and_starts(fresh, wheel, tmp_path):  # noqa: F811
    """Behind a password and under an outer name, which the file of the environment holds."""
    top, state, given = tmp_path / "opt" / "nspca", tmp_path / "state", tmp_path / "nspca.env"
    state.mkdir()
    variables = environment_of(top / "venv", fresh)
    shutil.copy(wheel, tmp_path)
    for step in steps():
        if not step.startswith(OF_THE_SYSTEM):
            if step.startswith("python3 -m venv"):
                assert step.split()[-1] == "/opt/nspca/venv"  # made already
                continue
            assert step.startswith("/opt/nspca/venv/bin/python -m pip install "), step
            run_step(step.replace("/opt/nspca", str(top)), tmp_path, variables, fresh)
    if fresh:
        owned = subprocess.check_output([script(top / "venv", "python"), "-m", "pip", "list"], text=True)
        assert "streamlit" in owned
    given.write_text(
        "NSPCA_PASSWORD=geheim\nSTREAMLIT_SERVER_ALLOWED_HOSTS=pca.example.org\n", encoding="utf-8"
    )
    lines = [*" ".join(settings("Environment")).split(), *given.read_text().split()]
    stated = dict(line.replace("/var/lib/nspca", str(state)).split("=", 1) for line in lines)
    port = servers.free_port()
    (command,) = settings("ExecStart")
    assert command.endswith("--port 8501")
    command = command.replace("/opt/nspca", str(top)).replace("8501", str(port))
    with Running(shlex.split(command), tmp_path, {"PATH": "/usr/bin:/bin", **stated}, port) as server:
        assert server.ask() == 401 and server.ask(Host="pca.example.org") == 401
        right = "Basic " + base64.b64encode(b"anyone:geheim").decode()
        assert server.ask(Host="pca.example.org", Authorization=right) == 200
        assert server.ask(Host="evil.example", Authorization=right) == 403
        assert getattr(signal, settings("KillSignal")[0]) == signal.SIGINT


@environments
def test_the_image_installs_and_starts(fresh, tmp_path):
    """The steps of the Dockerfile, without Docker: copy, install, remove the sources, start, look whether it
    is well.
    """
    top, state, environment = tmp_path / "opt", tmp_path / "state", tmp_path / "venv"
    top.mkdir(), state.mkdir()
    variables = environment_of(environment, fresh)
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    sources = [path.relative_to(ROOT) for path in tracked_files()]
    sources = [path for path in sources if not {path.parts[0], path.as_posix()} & {*ignored}]
    port, command = servers.free_port(), None

    def adapted(text: str) -> str:
        for here, there in (("/opt/nspca", top), ("/var/lib/nspca", state), ("8501", port)):
            text = text.replace(here, str(there))
        return text

    for kind, text in instructions():
        if kind == "ENV":
            variables |= dict(pair.split("=", 1) for pair in adapted(text).split())
        elif kind == "COPY":
            *named, target = text.split()
            assert target in (".", "./")
            for path in sources if named == ["."] else map(Path, named):
                (top / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, top / path)
        elif kind == "RUN" and not text.startswith(OF_THE_SYSTEM):
            run_step(adapted(text), top, variables, fresh)
        elif kind == "HEALTHCHECK":
            health = json.loads(adapted(text).partition(" CMD ")[2])
        elif kind == "CMD":
            command = json.loads(adapted(text).replace("0.0.0.0", "127.0.0.1"))
    assert not [path for path in top.iterdir() if path.name[0] != "."], "what is installed needs no sources"
    command[0] = script(environment, "python")
    variables = {name: value for name, value in variables.items() if not name.startswith("PIP_")}
    with Running(command, tmp_path, variables, port) as server:
        assert server.ask() == 200
        health[0] = command[0]
        assert subprocess.run(health, env=variables).returncode == 0
    assert subprocess.run(health, env=variables, stderr=subprocess.DEVNULL).returncode != 0
