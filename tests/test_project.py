"""The project as a whole: what is declared and what is documented."""

import argparse
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import nspca
from nspca.cli.entry import parser
from scripts import environment

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
COMMANDS = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def requirements(*extras: str) -> list[Requirement]:
    return [Requirement(text) for text in environment.requirements_of([*extras])]


def tracked_files() -> list[Path]:
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        pytest.skip("git does not know this folder as a repository")
    return [ROOT / name for name in run.stdout.split("\0") if name and (ROOT / name).is_file()]


# what is declared


def test_requirements_txt_is_what_the_dashboard_needs():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == environment.requirements_of(["app"])


def declared(*extras: str) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in requirements(*extras)}


def test_the_version_is_said_once_and_has_its_changes():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == nspca.__version__
    assert PYPROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "nspca.__version__"}
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (
        nspca.__version__,
        PYPROJECT["project"]["license"],
    )


# what is documented


def test_every_option_of_the_command_line_is_documented():
    subparsers = next(
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    for name, command in subparsers.choices.items():
        assert re.search(rf"`{name}\b|nspca {name}\b", COMMANDS), name
        for action in command._actions:
            for option in action.option_strings:
                assert option in ("-h", "--help") or option in COMMANDS, f"{name} {option}"


def test_nothing_tracked_names_a_machine_or_a_package_index():
    # The words are spelled in pieces, or the test would find them in this file.
    places = [r"/ro" + r"ot/", r"/ho" + r"me/\w+/", r"/wo" + r"rk/", r"/tm" + r"p/"]
    hosts = [r"py" + r"pi\.org", r"python" + r"hosted", "index" + "-url"]
    forbidden = re.compile("|".join(places + hosts))
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in forbidden.finditer(text)]
    assert found == []
