"""Output of all commands: text, JSON, tables, and a progress bar on terminals."""

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nspca.errors import InvalidOption
from nspca.presentation.numerals import format_guarantee, proved_ratio
from nspca.progress import Event, Report, silent

if TYPE_CHECKING:
    from nspca.data import Finding
    from nspca.specs import ProblemSpec

BAR = 24
"""Number of characters of a full bar."""
PAUSE = 0.05
"""Least seconds between two updates of the bar: some searches report thousands of times."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that move the cursor or turn text around, which names in a stranger's file may hold."""


def say(line: str = "") -> None:
    """Print a line of the answer on standard output."""
    sys.stdout.write(_CONTROL.sub(" ", line) + "\n")


def say_json(answer: Any) -> None:
    """Print the answer as JSON."""
    say(json.dumps(answer, indent=2))


def complain(sentence: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(_CONTROL.sub(" ", sentence) + "\n")


def say_notes(notes: Iterable[str]) -> None:
    """Print notes about changes made while reading, on standard error."""
    clear()
    for note in notes:
        complain(f"nspca: {note}")


def say_findings(findings: "Iterable[Finding]") -> None:
    """Print what reading decided and suspects on standard error, each with the flag that turns it."""
    from nspca.data.options import as_flag

    say_notes(one.say(as_flag) for one in findings)


def check_files(*paths: str | None, read: Iterable[str] = ()) -> None:
    """Refuse unusable output files before the work is done.

    A file is refused if it cannot be written, or would overwrite an input in `read` or another output.
    """
    taken = {Path(path).resolve() for path in read if Path(path).exists()}
    for path in filter(None, paths):
        file = Path(path).resolve()
        if not file.parent.is_dir():
            raise InvalidOption(
                f"a folder that exists is required for {path}: make it first or choose another"
            )
        if file.is_dir():
            raise InvalidOption(f"a file to write is required, got the folder {path}: name a file in it")
        if not os.access(file if file.exists() else file.parent, os.W_OK):
            raise InvalidOption(f"a file that may be written is required, got {path}: choose another")
        if file in taken:
            raise InvalidOption(
                f"a file of its own is required for whatever is written, got {path}, which is read or "
                "written already"
            )
        taken.add(file)


def write_csv(path: str, columns: Iterable[str], rows: Iterable[Mapping[str, Any]], name: str) -> None:
    """Write a table as a CSV file that spreadsheets open safely; its last column has the data's `name`."""
    import pandas as pd

    from nspca.data import frame_to_csv

    frame = pd.DataFrame(list(rows), columns=list(columns)).assign(data=name)
    Path(path).write_bytes(frame_to_csv(frame))


@contextmanager
def saved(args: argparse.Namespace, question: "ProblemSpec | None") -> Iterator[None]:
    """Enter a context in which the answer is printed; its end saves the question to ``--spec``.

    The question is saved even if the answer could not be printed. None saves nothing.
    """
    try:
        yield
    finally:
        if question is not None:
            Path(args.spec).write_text(question.to_json() + "\n", encoding="utf-8")
    if question is not None and not args.json:
        say(f"question: {args.spec}")


class Bar:
    """Progress bar in one terminal line, rewritten in place; the progress of a whole sweep comes first."""

    def __init__(self) -> None:
        self._next = 0.0
        self._whole = ""

    def __call__(self, event: Event) -> None:
        """Draw an event, at most once in `PAUSE` seconds except for the last of a stage."""
        now, line = time.monotonic(), event_line(event)
        if event.stage == "sweep":
            self._whole = line
        elif self._whole:
            line = f"{self._whole}  {event.stage}"
        last = 0 < event.total <= event.done
        if now < self._next and not last:
            return
        self._next = now + PAUSE
        sys.stderr.write(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()


def event_line(event: Event) -> str:
    """Return an event as a line: a bar when the total is known, and the proved share so far."""
    parts = [event.stage]
    if event.total:
        full = BAR * min(event.done, event.total) // event.total
        parts.append(f"[{'#' * full}{'.' * (BAR - full)}] {event.done}/{event.total}")
    elif event.done:
        parts.append(str(event.done))
    if event.k is not None:
        parts.append(f"k = {event.k}")
    if event.upper and event.lower is not None and 0 <= event.lower <= event.upper:
        parts.append(f"{format_guarantee(proved_ratio(event.lower, event.upper))} proved")
    return "  ".join([*parts, event.message] if event.message else parts)


def progress() -> Report:
    """Return a progress bar on a terminal, and a silent report otherwise."""
    return Bar() if sys.stderr.isatty() else silent


def clear() -> None:
    """Erase the progress bar."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
