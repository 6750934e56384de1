"""Compare other packages with this one on the same tables: value, time, memory and proved fraction.

    python -m benchmarks.peers [--only NAME] [--rounds 3] [--threads 1] [--limit 15] [--json FILE]
    python -m benchmarks.peers --table FILE

The contenders are `SparsePCA`, `MiniBatchSparsePCA` and `NMF` of scikit-learn, and where they are installed
`SparsePCA` of abess,
nnPCApy and nsprcomp (R). This package takes part with `threshold`, `em`, `tpower` and `auto`,
and with `auto` plus a fast certificate. The same lines truncate all loadings to k entries and normalise them
to length 1. `Problem.value` values them.

All contenders run in turn, round after round. Each run has a process of its own that has imported everything
and warmed up. The smallest CPU seconds are shown, because they depend least on other work. The second form
writes the tables of docs/ from a run that ``--json`` has saved.
"""

import argparse
import gc
import json
import os
import sys
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.peers import contenders, report, tables
from benchmarks.peers.race import raced
from benchmarks.shared import arguments, say, store

NUMBERS_OF_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def machine() -> str:
    """Return the name of the processor and its number of cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores"


def run(args: argparse.Namespace) -> None:
    """Race on every table, and print and save each result at once."""
    race = {
        "machine": machine(), "threads": args.threads, "rounds": args.rounds, "limit": args.limit,
        "load": os.getloadavg()[0], "versions": contenders.versions(), "rows": [],
    }  # fmt: skip
    wanted = [name for name in tables.LOADERS if name.lower().startswith((args.only or "").lower())]
    say(report.HEAD)
    for name in wanted:
        table = tables.load(name)
        if table.source == "relative":
            say(f"{name}: its relative takes its place, the original is looked for in NSPCA_DATA")
        rows = raced(table, args.rounds, args.limit)
        race["rows"] += rows
        say(report.text(rows))
        if args.json:
            args.json.write_text(json.dumps(race, indent=1) + "\n", "utf-8")


def start_again_with(threads: int) -> None:
    """Replace this process by one in which BLAS, OpenMP and R have had this number of threads from the start.

    OpenBLAS reads the number when NumPy is imported. A copy of a process that has more starts its idle
    threads again, and they cost up to a tenth of a CPU second in a run of milliseconds.
    """
    wanted = {name: str(threads) for name in NUMBERS_OF_THREADS}
    if any(os.environ.get(name) != number for name, number in wanted.items()):
        command = [sys.executable, "-m", "benchmarks.peers", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **wanted})


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", metavar="NAME", help="tables whose name begins so")
    parser.add_argument("--rounds", type=int, default=3, help="runs of everybody (3)")
    parser.add_argument("--threads", type=int, default=1, help="of everybody (1)")
    parser.add_argument("--limit", type=float, default=15.0, help="CPU seconds of a run (15)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="save the run")
    parser.add_argument(
        "--table", metavar="FILE", type=Path, help="write the tables of docs/ from a saved run"
    )
    args = parser.parse_args()
    if args.table:
        race = json.loads(args.table.read_text("utf-8"))
        store("results.md", "peers", report.markdown(race))
        report.TABLE.write_text(report.spreadsheet(race), "utf-8")
        return
    start_again_with(args.threads)
    contenders.preloaded()
    gc.freeze()  # what is loaded is not gone through again by the collector of every copy
    with threadpool_limits(args.threads):
        run(args)


if __name__ == "__main__":
    main()
