"""Commands `plan` and `shard`: the cost of solving, and conversion of files that do not fit into memory."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nspca.cli.arguments import Commands, add_options, count, given_options
from nspca.cli.screen import complain, progress, say, say_json, say_notes

NAMING = ("id_column", "label_column", "decimal")
"""Fields of a `DataSpec` that `shard` takes."""


def add(commands: Commands) -> None:
    """Add the commands `plan` and `shard` and their arguments."""
    command = commands.add(
        "plan",
        plan,
        "what solving will take: memory, passes, seconds",
        "plan docword.nytimes.txt.gz --k 15 --components 8",
        more="Nothing is read whole. Where a file cannot be held in memory, the command is named that can.",
    )
    command.add_argument(
        "source", metavar="SOURCE", help="a sample, a file or a folder of shards; its header is read"
    )
    command.add_argument("--k", type=count, help="features in a component (default 10, or all)")
    command.add_argument(
        "--components", type=count, default=1, metavar="R", help="how many are found together (default 1)"
    )
    add_options(command, "SweepSpec", "effort")
    command.share("json")

    command = commands.add(
        "shard",
        shard,
        "cut a file that need not fit into memory into a folder that solve and verify read in passes",
        "shard docword.nytimes.txt.gz nytimes",
        "shard measurements.parquet measured --megabytes 64",
    )
    command.add_argument(
        "source",
        metavar="FILE",
        help="a docword, Matrix Market (both also gzipped), Parquet, CSV, NPY, NPZ or HDF5 file",
    )
    command.add_argument("folder", metavar="FOLDER", help="a new folder")
    add_options(command, "DataSpec", *NAMING)
    size = command.add_mutually_exclusive_group()
    size.add_argument("--rows", type=count, metavar="N", help="rows of a shard")
    size.add_argument("--megabytes", type=count, metavar="N", help="about the size of a shard (default 32)")
    command.add_argument(
        "--vocabulary",
        metavar="FILE",
        help="the words of a docword file (vocab.x.txt beside docword.x.txt is found)",
    )


def plan(args: argparse.Namespace) -> int:
    """Print the memory, passes and seconds that solving will take."""
    from nspca import data
    from nspca.planning import plan

    source: Any = data.load_sample(args.source) if args.source in data.SAMPLES else args.source
    found = plan(source, args.k, args.components, args.effort or "fast")
    if args.json:
        say_json(asdict(found))
    else:
        say(str(found))
    return 0


def shard(args: argparse.Namespace) -> int:
    """Write a folder of shards and print its size."""
    from nspca.shards.sources import MEGABYTES, shard
    from nspca.shards.writer import unfinished

    for path in unfinished(Path(args.folder)):
        complain(f"nspca: {path} is of a run that was killed or still writes: if none does, delete it.")
    how = {"rows": args.rows, "megabytes": args.megabytes or MEGABYTES, "vocabulary": args.vocabulary}
    named = given_options(args, "DataSpec", *NAMING)
    made = shard(args.source, args.folder, **how, **named, report=progress())
    say_notes(made.notes)
    rows, columns = made.shape
    many = f"{len(made)} block{'s' * (len(made) > 1)}"
    say(f"{made.folder}: {rows} x {columns}, {made.nonzeros} nonzeros in {many}")
    return 0
