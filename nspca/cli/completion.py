"""Command `completion`: a script for shell completion of commands, options and values, made by shtab.

The metavar of an argument determines its values. Scripts hold names as words, and do not run nspca.
"""

import argparse
from collections.abc import Iterable
from typing import Any

from nspca.cli.arguments import Parser, argument, command
from nspca.cli.screen import say
from nspca.errors import Late

shtab: Any = Late("shtab", "scripts for shells", "app")
FILES = ("CERTIFICATE", "LOADINGS", "SPEC.json", "FILE", "FOLDER")
"""Beginnings of the metavars of arguments that take a file or a folder."""
SHELLS = ("bash", "zsh", "fish")
BASH = '_nspca_word_or_file() {{\n  compgen -W \'{words}\' -- "$1"\n  compgen -f -- "$1"\n}}'
ZSH = '_nspca_words_or_files() {\n  compadd -- "$@"\n  _files\n}'
"""Functions of both shells that complete some words, and files."""


@command(
    argument("shell", choices=SHELLS, help="for which shell"),
    examples=[f"completion {shell}" for shell in SHELLS],
)
def completion(args: argparse.Namespace) -> int:
    """A script that lets the shell fill in commands, options and values.

    Write it once to where your shell looks for it: ~/.local/share/bash-completion/completions/nspca (bash),
    _nspca in a folder of $fpath (zsh), ~/.config/fish/completions/nspca.fish (fish).
    """
    say(script(args.top, args.shell))
    return 0


def script(top: argparse.ArgumentParser, shell: str) -> str:
    """Return the script that completes the commands of a parser in a shell."""
    from nspca import METHODS, data, papers

    words: dict[str, tuple[str, ...]] = {
        "NAME": tuple(name for name, sample in data.SAMPLES.items() if sample.relative),
        "METHOD": ("auto", *METHODS),
        "STEP,...": tuple(data.PREPARATIONS),
        "ITEM": tuple(papers.ITEMS),
    }
    for parser in subparsers(top).values():
        actions: list[Any] = parser._actions  # shtab reads the attribute `complete` of those that have it
        for action in actions:
            metavar = str(action.metavar or "")
            if metavar in ("SOURCE", "DATA"):
                action.complete = _words_or_files(data.SAMPLES)
            elif metavar.startswith(FILES):
                action.complete = shtab.FILE
            elif metavar in words:
                action.choices = words[metavar]
    top.prog = "nspca"  # also for those who call it with `python -m`
    text: str = shtab.complete(top, shell)
    return text


def _words_or_files(names: Iterable[str]) -> dict[str, Any]:
    words = " ".join(names)
    return {
        "bash": "_nspca_word_or_file",  # a function with "file" in its name quotes words as names of files
        "zsh": f" _nspca_words_or_files {words}",
        "fish": f"{words} (__fish_complete_path (commandline -ct))",
        "preamble": {"bash": BASH.format(words=words), "zsh": ZSH},
    }


def subparsers(top: argparse.ArgumentParser) -> dict[str, Parser]:
    """Return the parsers of the commands by name; `entry.main` needs these too."""
    group = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    return dict(group.choices)


def options(command: argparse.ArgumentParser) -> list[str]:
    """Return every option of a command, among which `entry.main` looks for the one that was meant."""
    return [option for action in command._actions for option in action.option_strings]
