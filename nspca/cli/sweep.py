"""`sweep`: value and bound for many k."""

import argparse

from nspca.cli.screen import check_folder, clear, progress, say, say_json, write_csv
from nspca.cli.sources import make_problem, read_dataset
from nspca.cli.words import Commands, of_problem, sizes, with_json, with_seed


def add(commands: Commands) -> None:
    """`sweep` and its words."""
    command = commands.add(
        "sweep",
        run,
        "value and bound for many k",
        "sweep digits --k 5:50:5",
        "sweep pitprops --k 1:13 --signed --method greedy --method tpower --csv pitprops.csv",
        more="One row for each method and k: how many features are enough?",
        parents=[of_problem()],
    )
    command.add_argument(
        "--k",
        type=sizes,
        required=True,
        metavar="FIRST:LAST:STEP",
        help="sizes, both ends included, or 5,10,20",
    )
    command.add_argument(
        "--method",
        action="append",
        metavar="METHOD",
        help="a name of nspca.METHODS, may be repeated (default auto)",
    )
    command.add_argument("--csv", metavar="FILE.csv", help="write the table to a file instead of the screen")
    with_seed(command)
    with_json(command)


def run(args: argparse.Namespace) -> int:
    """Sweep, and print or write the table."""
    import nspca
    from nspca.result import COLUMNS

    check_folder(args.csv)
    problem = make_problem(args, read_dataset(args.source, args.prepare, args.covariance), args.k[0])
    how = {"methods": tuple(args.method or ["auto"]), "certify": args.effort, "seed": args.seed}
    swept = nspca.sweep(problem, args.k, report=progress(), **how)
    clear()
    frame = swept.frame
    if args.csv:
        write_csv(args.csv, COLUMNS, frame.to_dict("records"))
    if args.json:
        say_json(frame.to_dict("records"))
    elif args.csv:
        say(f"{len(frame)} rows: {args.csv}")
    else:
        say(as_text(frame))
    return 0


def as_text(frame) -> str:
    """The table in columns; bounds are rounded up and proved fractions down."""
    from nspca.certificate import rounded_up

    bounds = {
        "upper": lambda bound: f"{rounded_up(bound, 6):.6g}",
        "ratio": lambda ratio: f"{int(ratio * 10000) / 10000:.4f}",
    }
    return frame.to_string(index=False, formatters=bounds)
