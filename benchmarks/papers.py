"""Compute every figure and table of the four papers, and store what came out for the page Papers.

    NSPCA_DATA=... python -m benchmarks.papers [ITEM ...]

Prints what `nspca papers` prints, which stores nothing, and then the table of docs/papers.md. The results go
into sample_data/papers.
"""

import argparse

from benchmarks.shared import say
from nspca import papers
from nspca.data.catalogue import sample_folder
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
    folder = sample_folder() / "papers"
    for name in parser.parse_args().items:
        outcome = papers.reproduce(name)
        say("\n".join([f"\n{name}: {outcome.seconds:.1f} s", *report.lines(papers.ITEMS[name], outcome)]))
        if outcome.found or outcome.words:
            (folder / f"{name}.json").write_text(outcome.to_json(), encoding="utf-8")
    say(markdown())


if __name__ == "__main__":
    main()
