"""Command `sweep`: value and bound for many k."""

import argparse
from typing import TYPE_CHECKING, Any

from nspca.cli.arguments import Commands, given_options, of_problem, sizes
from nspca.cli.screen import check_files, clear, complain, progress, saved, say, say_json, write_csv
from nspca.cli.sources import about, about_problem, make_problem, read_dataset
from nspca.presentation.numerals import OPTIMAL_GAP, round_down, round_up
from nspca.progress import Event

if TYPE_CHECKING:
    import pandas as pd

    from nspca.cli.sources import Source


def add(commands: Commands) -> None:
    """Add the command `sweep` and its arguments."""
    command = commands.add(
        "sweep",
        run,
        "value and bound for many k",
        "sweep digits --k 5:50:5",
        "sweep pitprops --k 1:13 --signed --method greedy --method tpower --csv pitprops.csv",
        more="One row for each method and k: how many features are enough?",
    )
    of_problem(command)
    command.add_argument(
        "--k",
        type=sizes,
        required=True,
        metavar="FIRST:LAST:STEP",
        help="sizes, both ends included, or 5,10,20",
    )
    command.share("csv", "spec", "json")


def run(args: argparse.Namespace) -> int:
    """Sweep over k and print or write the table; an interrupted sweep yields its finished rows."""
    check_files(args.csv, args.spec, read=[args.source])
    dataset, data = read_dataset(args.source, args)
    problem_spec = about_problem(args, dataset, data)
    problem = make_problem(problem_spec, dataset, args.k[0])
    from nspca.result import COLUMNS
    from nspca.specs import SweepSpec

    given = given_options(args, "SweepSpec") | problem_spec.about_problem()
    question = SweepSpec(**given, ks=tuple(sorted({*args.k})), published=False)
    bar = progress()
    ready: list[Event] = []

    def report(event: Event) -> None:
        if event.stage == "sweep":
            ready.append(event)
        bar(event)

    try:
        question.run(report, problem)
    except KeyboardInterrupt:
        if not ready:
            raise
    clear()
    rows = [{name: event.payload["row"][name] for name in COLUMNS} for event in ready]
    with saved(args, question if args.spec else None):
        print_table(args, dataset, rows)
    if ready[-1].done < ready[-1].total:
        complain(f"nspca: stopped with {ready[-1].done} of {ready[-1].total} rows ready")
        return 130
    return 0


def print_table(args: argparse.Namespace, dataset: "Source", rows: list[dict[str, Any]]) -> None:
    """Print or write the table with the name of the data; a table that cannot be written is printed."""
    import pandas as pd

    from nspca.result import COLUMNS

    title = f"{dataset.name}: {len(rows)} rows"
    table = f"{title}\n{as_text(pd.DataFrame(rows, columns=list(COLUMNS)))}"
    try:
        if args.csv:
            write_csv(args.csv, COLUMNS, rows, dataset.name)
    except OSError:
        say(table)
        raise
    if args.json:
        say_json([about(dataset) | row for row in rows])
    else:
        say(f"{title}: {args.csv}" if args.csv else table)


def as_text(frame: "pd.DataFrame") -> str:
    """Return the table of a sweep as text. Bounds are rounded up; ratios are rounded down, or "optimal".

    The command `run` prints a sweep likewise.
    """
    bounds = {
        "upper": lambda bound: f"{round_up(bound, 6):.6g}",
        "ratio": lambda ratio: "optimal" if 1 - ratio <= OPTIMAL_GAP else f"{round_down(ratio, 4):.4f}",
    }
    return frame.to_string(index=False, formatters=bounds)
