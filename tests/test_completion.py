"""Shell completion offers what the parser accepts."""

import shutil
import subprocess

import pytest

from nspca import METHODS
from nspca.cli import completion
from nspca.cli.entry import main, parser

SHELLS = sorted(completion.SHELLS)


@pytest.fixture(scope="module")
def scripts():
    return {shell: completion.script(parser(), shell) for shell in SHELLS}


def filled(script: str, *line: str, folder=None) -> set[str]:
    """Return what bash offers for the last of some words."""
    typed = " ".join(f"'{word}'" for word in ("nspca", *line))
    ask = (
        f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(line)}; _shtab_nspca; "
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    run = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, cwd=folder, check=True)
    assert run.stderr == ""
    return set(run.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_fills_in_commands_options_and_values(scripts, tmp_path):
    (tmp_path / "digital.csv").touch()
    script = scripts["bash"]
    assert filled(script, "s") == {"solve", "sweep", "shard", "samples"}
    assert filled(script, "solve", "digits", "--method", "") == {"auto", *METHODS}
    assert filled(script, "solve", "--effort", "st") == {"standard"}
    assert filled(script, "verify", "--no-") == {
        "--no-center",
        "--no-scale",
        "--no-covariance",
        "--no-features-in-rows",
        "--no-spectra",
    }
    assert filled(script, "solve", "dig", folder=tmp_path) == {"digits", "digital.csv"}
    assert filled(script, "solve", "digits", "--certificate", "dig", folder=tmp_path) == {"digital.csv"}
    assert filled(script, "completion", "") == set(SHELLS)
    (tmp_path / "sweep.json").touch()
    assert filled(script, "run", "", folder=tmp_path) == {"digital.csv", "sweep.json"}
    assert filled(script, "solve", "digits", "--spec", "s", folder=tmp_path) == {"sweep.json"}
    assert filled(script, "solve", "--k", "5", "dig", folder=tmp_path) == {"digits", "digital.csv"}
    assert filled(script, "nothing", "") == set(completion.subparsers(parser()))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_options_of_every_command(shell, scripts, capsys):
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == scripts[shell] + "\n" and "effort" in scripts[shell]
