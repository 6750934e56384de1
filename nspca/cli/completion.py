"""Command `completion`: a script for shell completion of commands, options and values, made by shtab.

The metavar of an argument determines its values: names of samples, methods or steps, or files. Scripts hold
these names as plain words, so completion does not run nspca.
"""

import argparse
import re
from collections.abc import Sequence
from typing import Any

from nspca.cli.arguments import Commands, Parser
from nspca.cli.screen import say
from nspca.errors import Late

shtab: Any = Late("shtab", "scripts for shells", "app")
FILES = frozenset(
    {
        "SOURCE",
        "DATA",
        "CERTIFICATE",
        "LOADINGS",
        "SPEC.json",
        "FILE",
        "FILE.npz",
        "FILE.csv",
        "FILE.json",
        "FOLDER",
    }
)
"""Metavars of arguments that take a file or a folder; some take a name as well."""
PLACES = {
    "bash": "~/.local/share/bash-completion/completions/nspca",
    "zsh": "_nspca in a folder of $fpath",
    "fish": "~/.config/fish/completions/nspca.fish",
}
"""Location where each shell looks for the script."""
EITHER = '_nspca_words_or_files() {\n  compadd -- "$@"\n  _files\n}'
"""Function of zsh that completes some words, and files."""


def add(commands: Commands) -> None:
    """Add the command `completion` and its arguments."""
    command = commands.add(
        "completion",
        run,
        "a script that lets the shell fill in commands, options and values",
        *(f"completion {shell}" for shell in PLACES),
        more="Write it once to where your shell looks for it: "
        + ", ".join(f"{place} ({shell})" for shell, place in PLACES.items())
        + ".",
    )
    command.set_defaults(top=commands.top)
    command.add_argument("shell", choices=tuple(PLACES), help="for which shell")


def run(args: argparse.Namespace) -> int:
    """Print the script for a shell."""
    say(script(args.top, args.shell))
    return 0


def script(top: argparse.ArgumentParser, shell: str) -> str:
    """Return the script that completes the commands of a parser in a shell."""
    known = values()
    for command in subparsers(top).values():
        for action in command._actions:
            metavar = str(action.metavar or "")
            words = known.get(metavar, ())
            if metavar in FILES or words:
                action.complete = completer(metavar, words)  # type: ignore[attr-defined]  # as shtab documents
    top.prog = "nspca"  # also for those who call it with `python -m`
    script: str = shtab.complete(top, shell)
    return script


def subparsers(top: argparse.ArgumentParser) -> dict[str, Parser]:
    """Return the parsers of the commands by name; `entry.main` needs these too."""
    group = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    return dict(group.choices)


def options(command: argparse.ArgumentParser) -> list[str]:
    """Return every option of a command, among which `entry.main` looks for the one that was meant."""
    return [option for action in command._actions for option in action.option_strings]


def values() -> dict[str, tuple[str, ...]]:
    """Return the possible words for each metavar."""
    from nspca import METHODS, data, papers

    samples = tuple(data.SAMPLES)
    return {
        "SOURCE": samples,
        "DATA": samples,
        "NAME": tuple(name for name, sample in data.SAMPLES.items() if sample.relative),
        "METHOD": ("auto", *METHODS),
        "STEP,...": tuple(data.PREPARATIONS),
        "ITEM": tuple(papers.ITEMS),
    }


def completer(metavar: str, words: Sequence[str]) -> dict[str, Any]:
    """Return how shtab completes an argument with this metavar: words, files, or both.

    The name of a bash function with "file" in it makes shtab quote its words as names of files.
    """
    listed, files = " ".join(words), metavar in FILES
    if not words:
        return dict(shtab.FILE)
    function = "_nspca_" + re.sub(r"\W", "_", metavar) + ("_or_file" if files else "")
    body = f"  compgen -W '{listed}' -- \"$1\"\n" + ('  compgen -f -- "$1"\n' if files else "")
    return {
        "bash": function,
        "zsh": f" _nspca_words_or_files {listed}" if files else f"({listed})",
        "fish": listed + (" (__fish_complete_path (commandline -ct))" if files else ""),
        "preamble": {"bash": f"{function}() {{\n{body}}}", "zsh": EITHER if files else ""},
    }
