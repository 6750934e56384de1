"""Command `sweep`: value and bound for many k."""

import argparse
from typing import TYPE_CHECKING

from nspca.cli.arguments import argument, command, given_options, of_problem, output, sizes
from nspca.cli.run import answered, as_text
from nspca.cli.screen import check_files, saved, say, say_json, write_csv
from nspca.cli.sources import about, about_problem, make_problem, read_dataset

if TYPE_CHECKING:
    import pandas as pd

    from nspca.cli.sources import Source

SIZES = "sizes, both ends included, or 5,10,20"


@command(
    *of_problem(),
    argument("--k", type=sizes, required=True, metavar="FIRST:LAST:STEP", help=SIZES),
    output("csv", "spec", "json"),
    examples=(
        "sweep digits --k 5:50:5",
        "sweep pitprops --k 1:13 --signed --method greedy --method tpower --csv pitprops.csv",
    ),
)
def sweep(args: argparse.Namespace) -> int:
    """Value and bound for many k.

    One row for each method and k: how many features are enough?
    """
    check_files(args.csv, args.spec, read=[args.source])
    dataset, data = read_dataset(args.source, args)
    problem_spec = about_problem(args, dataset, data)
    problem = make_problem(problem_spec, dataset, args.k[0])
    from nspca.specs import SweepSpec

    given = given_options(args, "SweepSpec") | problem_spec.about_problem()
    question = SweepSpec(**given, ks=tuple(sorted({*args.k})), published=False)
    found, status = answered(question, X=problem)
    with saved(args, question if args.spec else None):
        print_table(args, dataset, found.frame)
    return status


def print_table(args: argparse.Namespace, dataset: "Source", frame: "pd.DataFrame") -> None:
    """Print or write the table with the name of the data; a table that cannot be written is printed."""
    title, rows = f"{dataset.name}: {len(frame)} rows", frame.to_dict("records")
    table = f"{title}\n{as_text(frame)}"
    try:
        if args.csv:
            write_csv(args.csv, frame.columns, rows, dataset.name)
    except OSError:
        say(table)
        raise
    if args.json:
        say_json([about(dataset) | row for row in rows])
    else:
        say(f"{title}: {args.csv}" if args.csv else table)
