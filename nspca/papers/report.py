"""Report of all figures and tables as one self-contained HTML file, as HTML tables, and as text.

For each item the report shows the printed numbers, the computed ones, the verdict with its reason, and the
curves. The command `nspca papers` calls `lines`, `counted` and `html`. The page Papers draws `table`,
`beside_table` and `text_table`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import count
from typing import Any

from nspca.errors import needs
from nspca.papers import ITEMS, PAPERS, VERDICTS, Claim, Found, Item, Outcome, claims, counts
from nspca.papers.item import Table
from nspca.presentation.numerals import format_value

# A missing package is reported here, not after minutes of computing.
with needs("the report of the papers"):
    from nspca.plots.papers import gallery_figure, panel_figure
    from nspca.presentation.markup import Markup, render

POWER = re.compile(r"(\d\.\d+)e[+-]\d+")


def number(value: float | str) -> str:
    """Return a computed number with four digits, or a finding in words as it is."""
    return value if isinstance(value, str) else format_value(value, 4)


def printed_number(claim: Claim) -> str:
    """Return what the paper prints, with ``1.08e+07`` as ``1.08 × 10⁷`` and ``4.94e+01`` as ``49.4``."""
    return POWER.sub(lambda found: format_value(float(found[0]), len(found[1]) - 1), claim.printed.shown)


def found_line(one: Found) -> str:
    """Return one line for a finding: value, range over seeds, reading of the paper, and budget."""
    low, high = one.spread or (0.0, 0.0)
    spread = f", {number(low)} to {number(high)} over seeds" if low != high else ""
    notes = "; ".join(note for note in (one.preset, one.budget) if note)
    return f"{number(one.value)}{spread}" + (f" ({notes})" if notes else "")


def lines(item: Item, outcome: Outcome | None) -> list[str]:
    """Return the lines about an item for a terminal.

    Each claim has its verdict, its subject, the printed and the computed numbers, those that the verdict
    ignores in brackets. Tables follow.
    """
    said = []
    for claim in claims(item, outcome):
        seen = "; ".join(found_line(one) if one.judged else f"[{found_line(one)}]" for one in claim.found)
        said.append(f"{claim.verdict:<13} {claim.printed.what}: {printed_number(claim)} | {seen}")
        said += [f"{'':<13} {more}" for more in (readings(claim), reason(claim)) if more]
    for table in outcome.tables if outcome is not None else []:
        said += [" | ".join(row) for row in (table.columns, *table.rows)]
    return said


def reason(claim: Claim) -> str:
    """Return the reason when the verdict of a claim is "differs" or "opposite", otherwise an empty text."""
    return claim.reason if claim.verdict in ("differs", "opposite") else ""


def readings(claim: Claim) -> str:
    """Return in how many readings of the paper a claim holds, when it does not hold in all of them."""
    some, every = claim.support
    return f"in {some} of {every} readings" if 0 < some < every else ""


def counted(outcomes: Mapping[str, Outcome]) -> str:
    """Return a sentence with the number of claims for each verdict."""
    every = [claim for name, outcome in outcomes.items() for claim in claims(ITEMS[name], outcome)]
    return ", ".join(f"{count} {verdict}" for verdict, count in counts(every).items())


def html(outcomes: Mapping[str, Outcome]) -> bytes:
    """Return the HTML file that reports on the items of `outcomes`, in the order of `ITEMS`."""
    import plotly.offline

    numbers = count(1)
    papers = []
    for paper, title in PAPERS.items():
        mine = [item for item in ITEMS.values() if item.paper == paper and item.name in outcomes]
        if mine:
            items = [_item(item, outcomes[item.name], numbers) for item in mine]
            papers.append({"title": title, "items": items})
    return render(
        "papers",
        plotly=Markup(plotly.offline.get_plotlyjs()),
        counted=counted(outcomes),
        verdicts=VERDICTS,
        papers=papers,
    ).encode()


def _item(item: Item, outcome: Outcome, numbers: Iterator[int]) -> dict[str, Any]:
    """Return one figure or table of a paper as the template takes it; `numbers` number the figures."""
    figures = [(panel.title, _drawn(panel_figure(asdict(panel)), next(numbers))) for panel in outcome.panels]
    for gallery in outcome.galleries:
        figure = gallery_figure(gallery.title, gallery.shape, gallery.columns)
        figures.append((gallery.title, _drawn(figure, next(numbers))))
    return {
        "name": item.name,
        "title": f"{item.label}: {item.title}",
        "computed": datetime.fromtimestamp(outcome.computed, UTC),
        "seconds": outcome.seconds,
        "claims": table(claims(item, outcome)),
        "said": outcome.said,
        "figures": figures,
        "tables": [(one.title, text_table(one)) for one in outcome.tables],
        "words": outcome.words,
    }


def table(lines: list[Claim], beside: bool = True) -> Markup:
    """Return the claims `lines` as an HTML table with printed and computed numbers, verdict and reason.

    With `beside`, a further column has the findings that are not judged.
    """
    rows = [
        {
            "what": claim.printed.what,
            "shown": printed_number(claim),
            "where": claim.printed.where,
            "own": _found_html(claim, judged=True),
            "others": _found_html(claim, judged=False),
            "verdict": claim.verdict,
            "readings": readings(claim),
            "reason": reason(claim),
        }
        for claim in lines
    ]
    head = ["What", "Printed", "The paper’s way, here", *["Beside it, not judged"] * beside, "Verdict"]
    return render("claims", head=head, rows=rows, beside=beside)


def beside_table(lines: list[Claim]) -> Markup:
    """Return an HTML table of the findings that are not judged."""
    rows = [(claim.printed.what, _found_html(claim, judged=False)) for claim in lines]
    return render("table", head=("What", "Beside the paper’s way"), rows=rows, kind="claims")


def _found_html(claim: Claim, judged: bool) -> Markup:
    """Return the judged or the other findings of a claim as HTML, a dash when there are none."""
    return render("found", lines=[found_line(one) for one in claim.found if one.judged is judged])


def text_table(one: Table) -> Markup:
    """Return a table of texts as an HTML table."""
    return render("table", head=one.columns, rows=one.rows, kind="claims")


def _drawn(figure: Any, number: int) -> Markup:
    """Return a figure as HTML. The number makes its id, since a random id would change the file."""
    options = {"full_html": False, "include_plotlyjs": False, "config": {"displaylogo": False}}
    return Markup(figure.to_html(div_id=f"figure-{number}", **options))
