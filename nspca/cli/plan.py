"""Commands `plan` and `shard`: the cost of solving, and conversion of files that do not fit into memory."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nspca.cli.arguments import argument, command, count, given_options, one_of, options, output
from nspca.cli.screen import complain, progress, say, say_json, say_notes

NAMING = ("id_column", "label_column", "decimal")
"""Fields of a `DataSpec` that `shard` takes."""


@command(
    argument("source", metavar="SOURCE", help="a sample, a file or a folder of shards; its header is read"),
    argument("--k", type=count, help="features in a component (default 10, or all)"),
    argument(
        "--components", type=count, default=1, metavar="R", help="how many are found together (default 1)"
    ),
    options("SweepSpec", "effort"),
    output("json"),
    examples=["plan docword.nytimes.txt.gz --k 15 --components 8"],
)
def plan(args: argparse.Namespace) -> int:
    """What solving will take: memory, passes, seconds.

    Nothing is read whole. Where a file cannot be held in memory, the command is named that can.
    """
    from nspca import data
    from nspca.planning import plan

    source: Any = data.load_sample(args.source) if args.source in data.SAMPLES else args.source
    found = plan(source, args.k, args.components, args.effort or "fast")
    if args.json:
        say_json(asdict(found))
    else:
        say(str(found))
    return 0


@command(
    argument(
        "source",
        metavar="FILE",
        help="a docword, Matrix Market (both also gzipped), Parquet, CSV, NPY, NPZ or HDF5 file",
    ),
    argument("folder", metavar="FOLDER", help="a new folder"),
    options("DataSpec", *NAMING),
    one_of(
        argument("--rows", type=count, metavar="N", help="rows of a shard"),
        argument("--megabytes", type=count, metavar="N", help="about the size of a shard (default 32)"),
    ),
    argument(
        "--vocabulary",
        metavar="FILE",
        help="the words of a docword file (vocab.x.txt beside docword.x.txt is found)",
    ),
    examples=["shard docword.nytimes.txt.gz nytimes", "shard measurements.parquet measured --megabytes 64"],
)
def shard(args: argparse.Namespace) -> int:
    """Cut a file that need not fit into memory into a folder that solve and verify read in passes."""
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
