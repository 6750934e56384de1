"""Declare commands and their arguments: `command` makes one of a function, whose docstring is its help."""

import argparse
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

from nspca.errors import NSPCAError

MOST_SIZES = 10_000
"""Maximum number of values of k in one sweep."""
OUTPUT: dict[str, dict[str, Any]] = {
    "certificate": {"metavar": "FILE.npz", "help": "save the certificate"},
    "csv": {"metavar": "FILE.csv", "help": "save the answer as a table"},
    "spec": {
        "metavar": "FILE.json",
        "help": "save the question, which `nspca run FILE.json` answers again",
    },
    "json": {"action": "store_true", "help": "print JSON instead of text"},
}
"""Arguments about output that several commands have, with the keywords of `add_argument`."""
Argument: TypeAlias = Callable[[Any], object]
"""Function that adds one argument or several to a parser, or to a group of it."""
Run: TypeAlias = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Argument parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Print an error as one sentence and exit with status 2; argparse calls this."""
        self.exit(2, f"nspca: {message}; `{self.prog} --help` says what there is\n")


@dataclass(frozen=True)
class Command:
    """A command: the function that gets the parsed arguments and returns the exit status, and its arguments.

    The name of the function is that of the command. The first sentence of its docstring is the summary.
    """

    run: Run
    arguments: tuple[Argument, ...]
    examples: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the command."""
        return self.run.__name__

    def add_to(self, group: Any, top: Parser, is_called: bool) -> None:
        """Add the command to the subparsers of a parser, with its arguments if it is called."""
        said = " ".join((self.run.__doc__ or "").split())
        summary = said.partition(". ")[0].removesuffix(".")
        shown = "\n".join(f"  {top.prog} {example}" for example in self.examples)
        parser = group.add_parser(
            self.name,
            help=summary[:1].lower() + summary[1:],
            description=said if ". " in said else summary + ".",
            epilog=f"example{'s' * (len(self.examples) > 1)}:\n{shown}",
            formatter_class=Paragraphs,
        )
        parser.set_defaults(run=self.run, top=top)
        for add in self.arguments if is_called else ():
            add(parser)


def command(*arguments: Argument, examples: Sequence[str]) -> Callable[[Run], Command]:
    """Return a decorator that makes a `Command` of a function."""
    return lambda run: Command(run, arguments, tuple(examples))


def argument(*names: str, **how: Any) -> Argument:
    """Return an argument with the names and keywords of `add_argument`."""
    return lambda parser: parser.add_argument(*names, **how)


def one_of(*arguments: Argument) -> Argument:
    """Return arguments of which at most one may be given."""

    def add(parser: Parser) -> None:
        group = parser.add_mutually_exclusive_group()
        for one in arguments:
            one(group)

    return add


def output(*names: str) -> Argument:
    """Return the named arguments of `OUTPUT`."""
    return lambda parser: [parser.add_argument(f"--{name}", **OUTPUT[name]) for name in names]


def options(model: str, *names: str) -> Argument:
    """Return an argument for each field of a spec that has a flag, or for the named fields."""
    return lambda parser: add_options(parser, model, *names)


def add_options(parser: Parser, model: str, *names: str) -> None:
    """Add an argument for each field of a spec that has a flag, or for the named fields.

    `given_options` returns their values. `model` is the name of a spec, such as ``SweepSpec``. Models are
    loaded here, which takes a second, and so only for the command that is called.
    """
    from nspca import specs

    declares = getattr(specs, model)
    for name, option, default in declares.declared():
        if not option.flag or (names and name not in names):
            continue
        how: dict[str, Any] = {"dest": name, "help": option.help}
        if default is None and declares.types(name) == {"boolean"}:
            parser.add_argument(option.flag, action=argparse.BooleanOptionalAction, **how)
            continue
        const = not default if isinstance(default, bool) else option.const
        if const is not None:
            parser.add_argument(option.flag, action="store_const", const=const, **how)
            continue
        if choices := declares.choices(name):
            how["choices"] = choices
        else:
            how |= {"type": _reader(declares, name), "metavar": option.metavar or None}
        if isinstance(default, tuple):
            how["action"] = "extend"
        parser.add_argument(option.flag, required=declares.model_fields[name].is_required(), **how)


def given_options(args: argparse.Namespace, model: str, *names: str) -> dict[str, Any]:
    """Return the fields of a spec that the command line gives; see `add_options`."""
    from nspca import specs

    declared = getattr(specs, model).declared()
    fields = [name for name, option, _ in declared if option.flag and (not names or name in names)]
    return {name: vars(args)[name] for name in fields if vars(args).get(name) is not None}


def _reader(declares: Any, name: str) -> Callable[[str], Any]:

    def read(text: str) -> Any:
        try:
            return declares.read(name, text)
        except NSPCAError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


class Paragraphs(argparse.HelpFormatter):
    """Help formatter that breaks no names at hyphens, and leaves indented example lines unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines() if "\n  " in text else self._split_lines(text, width - len(indent))
        return "\n".join(indent + line for line in lines)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


def meant(word: str, known: Iterable[str]) -> str:
    """Return a suggestion such as `` (did you mean solve?)`` for an unknown word; empty when nothing is near.

    It stands at the end of errors about unknown commands, options and names.
    """
    near = get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


OF_DATA = (
    options("DataSpec"),
    argument("--strict", action="store_true", help="end with status 2 if anything is suspected of the data"),
)
"""Arguments about reading and preparing the data."""


def of_problem(*names: str) -> tuple[Argument, ...]:
    """Return the arguments about a problem except k: the named fields of a `SweepSpec`, or all of them."""
    return (
        argument(
            "source",
            metavar="SOURCE",
            help="a sample's name (see `samples`), a data file or a folder of shards",
        ),
        *OF_DATA,
        argument(
            "--repair",
            choices=("shift",),
            help="accept a covariance that misses being positive semidefinite by single precision; values "
            "and bounds are of the matrix as given",
        ),
        options("SweepSpec", *names),
        argument(
            "--forced",
            default="",
            metavar="FEATURE,...",
            help="features that may be used freely and count among the k: names, or numbers from 0",
        ),
    )


def sizes(text: str) -> list[int]:
    """Parse ``5:50:5`` (both ends included) or ``5,10,20`` as a list of k."""
    try:
        if ":" in text:
            first, last, step = map(int, (text + ":1" * (text.count(":") == 1)).split(":"))
            ks = list(range(first, last + (1 if step > 0 else -1), step)[: MOST_SIZES + 1])
        else:
            ks = [int(part) for part in text.split(",")]
    except (ValueError, TypeError, OverflowError):
        ks = []
    if not 1 <= len(ks) <= MOST_SIZES or min(ks) < 1:
        raise argparse.ArgumentTypeError(
            f"sizes like 5:50:5 or 5,10,20, all at least 1 and at most {MOST_SIZES} of them, are required, "
            f"got {text!r}"
        )
    return ks


def count(text: str, most: int = 10**6) -> int:
    """Parse a whole number from 1 to a million, or to `most`."""
    if not (text.isascii() and text.isdigit() and len(text) < 12 and 1 <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"a whole number from 1 to {most:,} is required, got {text!r}")
    return int(text)


def percent(text: str) -> float:
    """Parse a percentage above 0 and at most 100."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"per cent above 0 and at most 100 are required, got {text!r}")
    return value
