"""Compute every figure and table of the four papers beside the printed numbers.

    NSPCA_DATA=... python -m benchmarks.papers [ITEM ...] [--store] [--html FILE]

Prints a line for every statement of a paper with its verdict, then the seconds of each item and the counts.
`--store` keeps the results in sample_data/papers, where the papers page finds them. It also prints the table
of docs/papers.md.
"""

import argparse
import time
from pathlib import Path

from benchmarks.shared import say
from nspca import papers
from nspca.data.folders import sample_folder
from nspca.papers import report


def markdown() -> str:
    """Return the table of docs/papers.md: the number of stored claims of each paper with each verdict."""
    rows = [f"| | {' | '.join(papers.VERDICTS)} |", f"|---|{'---|' * len(papers.VERDICTS)}"]
    for paper, title in papers.PAPERS.items():
        mine = [item for item in papers.ITEMS.values() if item.paper == paper]
        said = papers.counts(
            claim for item in mine for claim in papers.claims(item, papers.stored(item.name))
        )
        rows.append(f"| {title.partition(':')[0]} | {' | '.join(map(str, said.values()))} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", nargs="*", default=list(papers.ITEMS), help="all of them when none is named")
    parser.add_argument("--store", action="store_true", help="keep what came out in sample_data/papers")
    parser.add_argument("--html", metavar="FILE", help="write the report")
    args = parser.parse_args()
    outcomes, started = {}, time.perf_counter()
    for name in args.items:
        outcome = outcomes[name] = papers.reproduce(name)
        say(f"\n{name}: {outcome.seconds:.1f} s")
        for line in report.lines(papers.ITEMS[name], outcome):
            say(f"  {line}")
        if args.store and (outcome.found or outcome.words):
            folder = sample_folder() / "papers"
            folder.mkdir(exist_ok=True)
            (folder / f"{name}.json").write_text(outcome.to_json(), encoding="utf-8")
    say(f"\n{report.counted(outcomes)}; {time.perf_counter() - started:.0f} s")
    if args.store:
        say(markdown())
    if args.html:
        Path(args.html).write_bytes(report.html(outcomes))


if __name__ == "__main__":
    main()
