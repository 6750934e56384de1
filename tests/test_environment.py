"""Obstacles between a fresh machine and the two commands: each is reported in one sentence."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "environment.py"
needs_make = pytest.mark.skipif(
    shutil.which("make") is None or os.name == "nt", reason="make is not installed"
)


@pytest.fixture
def environment():
    spec = importlib.util.spec_from_file_location("environment", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def wanted(tmp_path) -> Path:
    path = tmp_path / "requirements.txt"
    path.write_text("no-such-package-is-ever-looked-up\n")
    return path


def fake_python(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_current_environment_is_left_alone(environment, tmp_path, wanted, monkeypatch):
    folder = tmp_path / "a venv"
    folder.mkdir()
    monkeypatch.setattr(environment, "version", lambda python: (3, 11))
    monkeypatch.setattr(environment, "create", lambda folder: None)
    calls = []
    monkeypatch.setattr(environment, "install", lambda folder, requirements: calls.append(requirements))
    environment.main(folder, [wanted])
    environment.main(folder, [wanted])
    assert calls == [[wanted]]
    wanted.write_text("something-else\n")
    environment.main(folder, [wanted])
    assert len(calls) == 2
    monkeypatch.setattr(environment, "version", lambda python: (3, 12))
    environment.main(folder, [wanted])
    assert len(calls) == 3


def test_a_failed_install_is_tried_again(environment, tmp_path, wanted, monkeypatch):
    monkeypatch.setattr(environment, "create", lambda folder: folder.mkdir(exist_ok=True))

    def fail(folder, requirements):
        raise environment.Failure("no")

    monkeypatch.setattr(environment, "install", fail)
    for _ in range(2):
        with pytest.raises(environment.Failure, match="no"):
            environment.main(tmp_path / "venv", [wanted])


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_missing_module_is_named_with_its_package(environment, tmp_path, monkeypatch, module):
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == module else known(name, *rest)
    )
    with pytest.raises(
        environment.Failure, match=rf"lacks its module {module}: install it .* package python3\.\d+-venv"
    ):
        environment.create(tmp_path / "venv")
    assert not (tmp_path / "venv").exists()


def test_a_folder_with_other_things_is_not_cleared(environment, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(environment.Failure, match="not a virtual environment"):
        environment.create(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for an old Python is a shell script")
def test_an_old_environment_is_refused(environment, tmp_path):
    fake_python(tmp_path / "venv" / "bin" / "python", "echo 3 10")
    with pytest.raises(
        environment.Failure, match=r"holds Python 3\.10 and nspca needs 3\.11 or newer: `make clean`"
    ):
        environment.create(tmp_path / "venv")


@pytest.mark.skipif(os.name == "nt", reason="the environment's Python is replaced by a shell script")
def test_without_a_network_there_is_one_sentence(environment, tmp_path, wanted, monkeypatch):
    fake_python(tmp_path / "venv" / "bin" / "python", f'exec "{sys.executable}" "$@"')
    for name in [name for name in os.environ if name.upper().startswith("PIP_")]:
        monkeypatch.delenv(name)
    closed = "http://127.0.0.1:9"  # the discard port: nothing answers there
    settings = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
        "PIP_RETRIES": "0",
        "PIP_DRY_RUN": "1",
    }
    for name, value in (
        settings | {"HTTPS_PROXY": closed, "HTTP_PROXY": closed, "https_proxy": closed}
    ).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        environment.Failure, match=r"^pip cannot reach its package index: connect to the network"
    ):
        environment.install(tmp_path / "venv", [wanted])
    assert (tmp_path / "venv" / "pip.log").is_file()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Collecting x\nERROR: No space left on device\n", "No space left on device"),
        ("one\ntwo\n\n", "two"),
        ("", "no message"),
        ("ERROR: first\nERROR: last\nHint: try\n", "last"),
    ],
)
def test_the_reason_is_taken_from_the_log(environment, text, line):
    assert environment.last_line(text) == line


def make(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess:
    # `make test PYTHON=...` hands its own arguments on to every make below it.
    handed = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "PYTHON")
    settings = {name: value for name, value in os.environ.items() if name not in handed}
    settings |= {"PATH": path} if path else {}
    return subprocess.run(
        [shutil.which("make"), *arguments], cwd=ROOT, env=settings, capture_output=True, text=True
    )


@needs_make
def test_make_without_a_new_enough_python_says_so(tmp_path):
    for name in ("python3", "python3.12"):
        fake_python(tmp_path / name, "exit 1")
    (tmp_path / "sh").symlink_to(shutil.which("sh"))
    run = make("app", f"VENV={tmp_path / 'venv'}", path=str(tmp_path))
    assert run.returncode
    first, *rest = run.stderr.splitlines()
    assert first.startswith("nspca: Python 3.11 or newer is needed and none was found on PATH")
    assert all(line.startswith("make") for line in rest)


@needs_make
def test_make_says_when_the_chosen_python_is_too_old(tmp_path):
    old = fake_python(tmp_path / "old python", "exit 1")
    run = make("test", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}")
    assert run.returncode
    assert f"nspca: Python 3.11 or newer is needed and {old} is not one" in run.stderr
    assert not (tmp_path / "venv").exists()


@needs_make
def test_make_passes_over_a_python_that_does_not_start(tmp_path):
    fake_python(tmp_path / "python3.14", "exit 127")
    fake_python(tmp_path / "python3", f'exec "{sys.executable}" "$@"')
    (tmp_path / "sh").symlink_to(shutil.which("sh"))
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "thesis.tex").touch()
    run = make("environment", f"VENV={tmp_path / 'venv'}", path=str(tmp_path))
    assert "not a virtual environment" in run.stderr  # so the script did run, with the second Python
