"""Command `completion`: a script for shell completion of commands, options and values, made from the parser.

The metavar of an argument determines its values: names of samples, methods or steps, or files. Scripts hold
plain words only, so completion does not run nspca.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nspca.cli.arguments import PREPARATIONS, Commands, Parser
from nspca.cli.screen import say

FILES = frozenset({"SOURCE", "DATA", "CERTIFICATE", "LOADINGS", "FILE", "FILE.npz", "FILE.csv", "FOLDER"})
"""Metavars of arguments that take a file or a folder; some take a name as well."""
PLACES = {
    "bash": "~/.local/share/bash-completion/completions/nspca",
    "zsh": "_nspca in a folder of $fpath",
    "fish": "~/.config/fish/completions/nspca.fish",
}
"""Location where each shell looks for the script."""


@dataclass(frozen=True)
class Place:
    """One argument of a command: an option with its value, or a positional argument.

    Attributes
    ----------
    options : tuple of str
        Spellings of the option; empty for a positional argument.
    told : str
        Short help.
    takes, many : bool
        Whether it takes a value, and any number of values.
    words : tuple of str
        Possible values.
    files : bool
        Whether files are possible values.
    """

    options: tuple[str, ...]
    told: str
    takes: bool
    many: bool
    words: tuple[str, ...]
    files: bool


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
    say(SHELLS[args.shell](args.top))
    return 0


def subparsers(top: argparse.ArgumentParser) -> dict[str, Parser]:
    """Return the commands of a parser by name."""
    group = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    return dict(group.choices)


def options(command: argparse.ArgumentParser) -> list[str]:
    """Return every option of a command."""
    return [option for action in command._actions for option in action.option_strings]


def values() -> dict[str, tuple[str, ...]]:
    """Return the possible words for each metavar."""
    from nspca import METHODS, data, papers

    samples = tuple(data.SAMPLES)
    return {
        "SOURCE": samples,
        "DATA": samples,
        "NAME": tuple(name for name, sample in data.SAMPLES.items() if sample.stand_in),
        "METHOD": ("auto", *METHODS),
        "STEP,...": PREPARATIONS,
        "ITEM": tuple(papers.ITEMS),
    }


def places(command: argparse.ArgumentParser) -> Iterator[Place]:
    """Yield the arguments of a command, in the order of its help."""
    known = values()
    for action in command._actions:
        shown = str(action.metavar or "")
        words = tuple(map(str, action.choices)) if action.choices else known.get(shown, ())
        told = (action.help or "").partition(";")[0].partition(" (")[0]
        takes = action.nargs != 0 or not action.option_strings
        yield Place(tuple(action.option_strings), told, takes, action.nargs == "*", words, shown in FILES)


def summaries(top: argparse.ArgumentParser) -> dict[str, str]:
    """Return the first sentence of the description of each command."""
    said = {name: command.description or "" for name, command in subparsers(top).items()}
    return {name: text.partition(". ")[0].rstrip(".") for name, text in said.items()}


def quoted(text: str) -> str:
    """Return a text in single quotes that is safe in all three shells."""
    return "'" + re.sub(r"['\\\n:]", " ", text) + "'"


def bash(top: argparse.ArgumentParser) -> str:
    """Return the script for bash, from version 3 on."""
    cases = []
    for name, command in subparsers(top).items():
        found = list(places(command))
        after = [
            f'{"|".join(one.options)}) words="{" ".join(one.words)}"; files={int(one.files)} ;;'
            for one in found
            if one.options and one.takes
        ]
        loose = [one for one in found if not one.options]
        every = " ".join(option for one in found for option in one.options)
        here = " ".join(word for one in loose for word in one.words)
        cases.append(
            f'{name}) case "$before" in\n      '
            + "\n      ".join([*after, f'*) words="{here}"; files={int(any(one.files for one in loose))}'])
            + f'\n        case "$now" in -*) words="{every}"; files=0 ;; esac ;;\n    esac ;;'
        )
    return BASH.format(commands=" ".join(subparsers(top)), cases="\n    ".join(cases))


def zsh(top: argparse.ArgumentParser) -> str:
    """Return the script for zsh."""
    cases = []
    for name, command in subparsers(top).items():
        lines, number = [], 0
        for one in places(command):
            told = quoted(one.told)[1:-1].translate({ord("["): "(", ord("]"): ")"})
            words = " ".join(one.words)
            either = f" _nspca_either {words}" if words and one.files else f"({words})" if words else ""
            value = f":{told}:{either or ('_files' if one.files else ' ')}" if one.takes else ""
            number += not one.options
            lines += [f"'*{option}[{told}]{value}'" for option in one.options]
            lines += [] if one.options else [f"'{'*' if one.many else number}{value}'"]
        cases.append(f"{name}) _arguments {' '.join(lines)} ;;")
    named = " ".join(f"{quoted(name)[:-1]}:{quoted(told)[1:]}" for name, told in summaries(top).items())
    return ZSH.format(commands=named, cases="\n      ".join(cases))


def fish(top: argparse.ArgumentParser) -> str:
    """Return the script for fish."""
    lines = ["complete -c nspca -f"]
    for name, told in summaries(top).items():
        lines.append(f"complete -c nspca -n __fish_use_subcommand -a {name} -d {quoted(told)}")
    for name, command in subparsers(top).items():
        when = f"complete -c nspca -n '__fish_seen_subcommand_from {name}'"
        for one in places(command):
            spelt = "".join(
                f" -l {option[2:]}" if option.startswith("--") else f" -s {option[1:]}"
                for option in one.options
            )
            value = (" -r" if one.takes and one.options else "") + (" -F" if one.files else "")
            words = f" -a {quoted(' '.join(one.words))}" if one.words else ""
            lines.append(f"{when}{spelt}{value}{words}" + (f" -d {quoted(one.told)}" if one.options else ""))
    return "\n".join(lines)


SHELLS: dict[str, Callable[[argparse.ArgumentParser], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
BASH = """_nspca() {{
  local now="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words="" files=0
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  else case "${{COMP_WORDS[1]}}" in
    {cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$now"))
  if [ "$files" -eq 1 ]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$now"))
  fi
}}
complete -o filenames -F _nspca nspca"""
ZSH = """#compdef nspca
_nspca_either() {{
  compadd -- "$@"
  _files
}}
_nspca() {{
  local -a commands=({commands})
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local name=$words[2]
    shift words; (( CURRENT-- ))
    case $name in
      {cases}
    esac
  fi
}}
if [ "$funcstack[1]" = "_nspca" ]; then _nspca "$@"; else compdef _nspca nspca; fi"""
