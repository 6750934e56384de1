"""Command `papers`: every figure and table of the four papers, with printed and computed numbers."""

import argparse
from pathlib import Path
from typing import Any

from nspca.cli.arguments import argument, command, output
from nspca.cli.screen import check_files, clear, progress, say, say_json

FOUND = ("value", "preset", "judged", "budget", "spread")
"""Fields of a finding in the JSON."""


@command(
    argument(
        "items",
        nargs="*",
        metavar="ITEM",
        help="such as asteris2014-figure-4 (all of them when none is named)",
    ),
    argument(
        "--stored", action="store_true", help="what came with the project, instead of computing it here"
    ),
    argument("--html", nargs="?", const="papers.html", metavar="FILE", help="write all of it as one report"),
    output("json"),
    examples=["papers --stored", "papers asteris2014-figure-4 sigg2008-figure-4 --html report.html"],
)
def papers(args: argparse.Namespace) -> int:
    """Every figure and table of the four papers, printed beside computed.

    Needs the data sets of the papers: see `fetch`.
    """
    from nspca import papers
    from nspca.papers import report

    check_files(args.html)
    items = [papers.find_item(name) for name in args.items or papers.ITEMS]
    outcomes, listed = {}, []
    for item in items:
        outcome = papers.stored(item.name) if args.stored else papers.reproduce(item.name, progress())
        clear()
        if outcome is not None:
            outcomes[item.name] = outcome
        if args.json:
            listed.append({"item": item.name, "title": item.title, "lines": compared(item, outcome)})
            continue
        say(f"{item.name}: {item.title}" + (f" ({outcome.seconds:.1f} s)" if outcome else ""))
        for line in report.lines(item, outcome):
            say(f"  {line}")
    if args.json:
        say_json(listed)
    else:
        say(report.counted(outcomes))
    if args.html:
        Path(args.html).write_bytes(report.html(outcomes))
        if not args.json:
            say(f"report: {args.html}")
    return 0


def compared(item: Any, outcome: Any) -> list[dict[str, Any]]:
    """Return the printed and the computed numbers of an item, one dict per line."""
    from nspca.papers import claims
    from nspca.papers.report import reason

    return [
        {
            "what": claim.printed.what,
            "where": claim.printed.where,
            "printed": claim.printed.shown,
            "found": [{name: getattr(one, name) for name in FOUND} for one in claim.found],
            "verdict": claim.verdict,
            "reason": reason(claim),
        }
        for claim in claims(item, outcome)
    ]
