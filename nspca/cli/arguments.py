"""Parsers of argument values, and arguments shared by several commands, for the `add` of each command."""

import argparse
import math
import textwrap
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import NoReturn, TypeAlias

MOST_SIZES = 10_000
"""Maximum number of values of k in one sweep."""
EFFORTS = ("fast", "standard", "thorough", "exhaustive")
PREPARATIONS = ("lee-seung", "equalised", "log2", "off-first", "with-header")
Run: TypeAlias = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Argument parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Print an error as one sentence and exit with status 2; argparse calls this."""
        self.exit(2, f"nspca: {message}; `{self.prog} --help` says what there is\n")


class Commands:
    """Registry of commands, to which each command module adds its own."""

    def __init__(self, top: Parser) -> None:
        self.top = top
        self._group = top.add_subparsers(
            dest="command", required=True, metavar="COMMAND", title="commands", parser_class=Parser
        )

    def add(
        self,
        name: str,
        run: Run,
        summary: str,
        *examples: str,
        more: str = "",
        parents: Iterable[Parser] = (),
    ) -> Parser:
        """Add a command and the text of its `--help`: a summary, more text, and examples.

        `run` is called with the parsed arguments and returns the exit status.
        """
        text = f"{summary[0].upper()}{summary[1:]}.{' ' if more else ''}{more}"
        shown = "\n".join(f"  {self.top.prog} {example}" for example in examples)
        parser = self._group.add_parser(
            name,
            help=summary,
            description=text,
            epilog=f"example{'s' * (len(examples) > 1)}:\n{shown}",
            formatter_class=Paragraphs,
            parents=list(parents),
        )
        parser.set_defaults(run=run)
        return parser


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


def preparing() -> Parser:
    """Return a parent parser with ``--prepare``."""
    parent = Parser(add_help=False)
    parent.add_argument(
        "--prepare",
        default="",
        metavar="STEP,...",
        help=f"what is done to the data first, in order: {', '.join(PREPARATIONS)}; `verify` does what the "
        "certificate says when nothing is named",
    )
    return parent


def naming() -> Parser:
    """Return a parent parser with options about the columns and the decimal sign of a file."""
    parent = Parser(add_help=False)
    what = "of a file: the column with the {} of the samples, by name or by number from 0"
    parent.add_argument("--id", type=column, metavar="COLUMN", help=what.format("names"))
    parent.add_argument("--labels", type=column, metavar="COLUMN", help=what.format("groups"))
    parent.add_argument(
        "--decimal", choices=(",", "."), help="of a file of text: its decimal sign (default: found by itself)"
    )
    return parent


def reading() -> Parser:
    """Return a parent parser with options about reading a file, as in `nspca.read`."""
    parent = Parser(add_help=False, parents=[naming()])
    parent.add_argument(
        "--missing",
        choices=("samples", "features", "mean"),
        help="of a file with empty cells: leave out the samples or features that have some, or put in the "
        "means of the features (default: it is refused)",
    )
    parent.add_argument(
        "--features-in-rows",
        action="store_true",
        help="of a file: its rows are the features, --id a column of their names, --labels a row",
    )
    parent.add_argument(
        "--annotation",
        metavar="FILE",
        help="a second table about the samples, CSV or Excel, joined by their names; --labels may name one "
        "of its columns",
    )
    parent.add_argument(
        "--image-size",
        type=count,
        metavar="N",
        help="of a ZIP or folder of images of any size and colour: make them grey, N x N pixels",
    )
    _counting(parent)
    return parent


def _counting(parser: Parser) -> None:
    """Add the options about counting the words of texts, as in `nspca.read_text`."""
    parser.add_argument(
        "--text",
        action="store_true",
        help="SOURCE holds texts, and their words are counted: a folder or ZIP of .txt files, a table with a "
        "column of texts, or a text with a document in every line",
    )
    parser.add_argument(
        "--text-column", type=column, metavar="COLUMN", help="with --text: the column with the texts"
    )
    parser.add_argument(
        "--split",
        choices=("lines", "paragraphs"),
        help="with --text: what a document is in one text file (default: found by itself)",
    )
    parser.add_argument(
        "--stop-words",
        choices=("none", "english", "german", "french", "spanish"),
        help="with --text: words that are not counted (default: those of the language, which is guessed)",
    )
    for name, what, usual in (("lowest", "least", 0), ("highest", "most", 50)):
        parser.add_argument(
            f"--{name}-share",
            type=share,
            metavar="PERCENT",
            help=f"with --text: words in so many per cent of the documents at {what} (default {usual})",
        )
    parser.add_argument("--tfidf", action="store_true", help="with --text: weigh the counts by tf-idf")
    parser.add_argument("--pairs", action="store_true", help="with --text: count pairs of words too")
    parser.add_argument(
        "--most-words", type=count, metavar="N", help="with --text: keep so many words (default 4000)"
    )


def of_problem() -> Parser:
    """Return a parent parser with the arguments that define a problem, except k."""
    parent = Parser(add_help=False, parents=[preparing(), reading()])
    parent.add_argument(
        "source", metavar="SOURCE", help="a sample's name (see `samples`), a data file or a folder of shards"
    )
    parent.add_argument(
        "--covariance",
        action="store_true",
        help="the table is a covariance, and no samples (an NPZ may say so)",
    )
    parent.add_argument(
        "--repair",
        choices=("shift",),
        help="accept a covariance that misses being positive semidefinite by single precision; values and "
        "bounds are of the matrix as given",
    )
    parent.add_argument("--signed", action="store_true", help="allow negative weights")
    parent.add_argument(
        "--no-center", dest="center", action="store_false", help="do not subtract the column means"
    )
    parent.add_argument("--scale", action="store_true", help="divide every column by its standard deviation")
    parent.add_argument(
        "--forced",
        default="",
        metavar="FEATURE,...",
        help="features that may be used freely and count among the k: names, or numbers from 0",
    )
    with_effort(parent)
    return parent


def with_effort(parser: Parser) -> None:
    """Add ``--effort``."""
    parser.add_argument(
        "--effort", choices=EFFORTS, default="fast", help="work spent on the bound (default fast)"
    )


def with_seed(parser: Parser) -> None:
    """Add ``--seed``."""
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")


def with_spec(parser: Parser) -> None:
    """Add ``--spec``."""
    parser.add_argument(
        "--spec", metavar="FILE.json", help="save the question, which `nspca run FILE.json` answers again"
    )


def with_json(parser: Parser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


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


def column(text: str) -> str | int:
    """Parse a column given by number or by name."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _whole(text: str, most: int, required: str) -> int:
    """Parse a whole number from 1 to `most`."""
    digits = text.lstrip("0") if text.isascii() and text.isdigit() else ""
    if not digits or len(digits) > 10 or int(digits) > most:
        raise argparse.ArgumentTypeError(f"{required} is required, got {text!r}")
    return int(digits)


def count(text: str) -> int:
    """Parse a whole number from 1 to a million."""
    return _whole(text, 10**6, "a whole number from 1 to a million")


def port_number(text: str) -> int:
    """Parse a port number."""
    return _whole(text, 65535, "a port from 1 to 65535")


def _per_cent(text: str, least: float, required: str) -> float:
    """Parse a number from `least` to 100."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= 100:
        raise argparse.ArgumentTypeError(f"per cent {required} are required, got {text!r}")
    return value


def percent(text: str) -> float:
    """Parse a percentage above 0 and at most 100."""
    return _per_cent(text, math.ulp(0.0), "above 0 and at most 100")


def share(text: str) -> float:
    """Parse a percentage from 0 to 100 as a share from 0 to 1."""
    return _per_cent(text, 0.0, "from 0 to 100") / 100
