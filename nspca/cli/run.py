"""Command `run`: answer a question that a page or Python exported as JSON."""

import argparse
import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nspca.cli.arguments import argument, command, count
from nspca.cli.screen import check_files, clear, complain, progress, say
from nspca.cli.solve import client_of
from nspca.errors import Cancelled, InvalidOption, WorkersLost
from nspca.presentation.numerals import OPTIMAL_GAP, round_down, round_up
from nspca.progress import Event, Report, telling

if TYPE_CHECKING:
    import pandas as pd

    from nspca.specs import Spec

STOPPED = 130
"""Exit status of a run that somebody stopped."""
MOST_BYTES = 10_000_000
"""Maximum bytes of a spec; one with ten thousand values of k and as many features has a tenth of that."""


@command(
    argument("spec", metavar="SPEC.json", help="what the button JSON of a page gives"),
    argument(
        "--workers",
        type=count,
        metavar="N",
        help="so many processes of this machine read a folder of shards together; the result is the same",
    ),
    argument(
        "--output", metavar="FILE", help="save the result: a ZIP of a sweep, an NPZ of a proof, else JSON"
    ),
    examples=["run sweep.json --output sweep.zip"],
)
def run(args: argparse.Namespace) -> int:
    """Answer a question that a page exported as JSON.

    Ctrl+C stops the run and keeps what is ready. Files of the question are looked for here and beside the
    spec.
    """
    check_files(args.output, read=[args.spec])
    path = Path(args.spec)
    if not path.is_file():
        raise InvalidOption(f"a file with a spec is required, got {args.spec}, which is none")
    if path.stat().st_size > MOST_BYTES:
        raise InvalidOption(f"a spec must have at most {MOST_BYTES} bytes, got {path.stat().st_size}")
    from nspca.shards import Shards
    from nspca.specs import ProblemSpec, Spec

    spec = Spec.from_json(path.read_bytes())
    complain(f"nspca: {spec.describe().line}")
    data: Any = spec.open(path.parent) if isinstance(spec, ProblemSpec) else None
    if args.workers is not None and not isinstance(data, Shards):
        raise InvalidOption(
            "workers read a folder of shards, and this question is about other data; leave --workers out"
        )
    with client_of(args.workers, None) as client:
        if client is not None and isinstance(spec, ProblemSpec):  # the workers read shards
            data = spec.problem(data, client=client)
        result, status = answered(spec, **({} if data is None else {"X": data}))
    if args.output:
        Path(args.output).write_bytes(spec.pack(result))
        say(f"result: {args.output}")
    else:
        say(in_text(result))
    return status


def answered(spec: "Spec", **given: Any) -> tuple[Any, int]:
    """Return the result of a spec and the exit status; after Ctrl+C, or a loss of workers, what was ready."""
    with _stoppable(progress()) as report, telling(report):
        try:
            return spec.run(report, **given), 0
        except Cancelled as stop:
            lost = isinstance(stop, WorkersLost)
            if stop.result is None:
                raise stop if lost else KeyboardInterrupt from None
            clear()
            complain(f"nspca: {f'{stop} This' if lost else 'stopped; this'} is what was ready")
            return stop.result, 2 if lost else STOPPED
        finally:
            clear()


@contextmanager
def _stoppable(report: Report) -> Iterator[Report]:
    """Yield a report hook that raises `Cancelled` after Ctrl+C; a second Ctrl+C ends the program at once."""
    pressed = False

    def press(number: int, frame: Any) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    def hear(event: Event) -> None:
        if pressed:
            raise Cancelled("stopped")
        report(event)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield hear
    finally:
        signal.signal(signal.SIGINT, before)


def in_text(result: Any) -> str:
    """Return a result as it is printed: a table where it has one, a statement, or JSON."""
    if isinstance(result, dict | list):
        return json.dumps(result, indent=1)
    frame = getattr(result, "frame", None)
    if frame is not None:
        return as_text(frame) if "ratio" in frame else frame.to_string(index=False)
    if hasattr(result, "noise"):
        return f"value {result.value:.6g}, shuffled at most {result.noise.max():.6g}, p = {result.p:.2g}"
    return getattr(result, "statement", None) or getattr(result, "said", None) or str(result)


def as_text(frame: "pd.DataFrame") -> str:
    """Return the table of a sweep as text. Bounds are rounded up; ratios are rounded down, or "optimal"."""
    bounds = {
        "upper": lambda bound: f"{round_up(bound, 6):.6g}",
        "ratio": lambda ratio: "optimal" if 1 - ratio <= OPTIMAL_GAP else f"{round_down(ratio, 4):.4f}",
    }
    return frame.to_string(index=False, formatters=bounds)
