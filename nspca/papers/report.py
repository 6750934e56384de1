"""Report of all figures and tables as one self-contained HTML file.

For each item the report shows the printed numbers, the computed ones, the verdict with its reason, and the
curves.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape

from nspca.errors import of_the_app
from nspca.papers import ITEMS, PAPERS, VERDICTS, Claim, Found, Item, Outcome, claims, counts, stored
from nspca.papers.item import Table

# A missing package is reported here, not after minutes of computing.
with of_the_app("the report of the papers"):
    from nspca.plots.papers import gallery_figure, panel_figure

STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem;
color: #1d2b30; background: #fcfcfa; } table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #dde4e5; vertical-align:
top; } h2 { margin-top: 3rem; } h3 { margin-top: 2.4rem; } small { color: #5c6b70; } .agrees, .better { color:
#0b7a55; font-weight: 600; } .opposite { color: #b3261e; font-weight: 600; }
.differs { color: #a05a00; font-weight: 600; }"""
ALONE = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def number(value: float | str) -> str:
    """Return a computed number with four digits, or a finding in words as it is."""
    return value if isinstance(value, str) else f"{value:.4g}"


def found_line(one: Found) -> str:
    """Return one line for a finding: value, range over seeds, reading of the paper, and budget."""
    low, high = one.spread or (0.0, 0.0)
    spread = f", {number(low)} to {number(high)} over seeds" if low != high else ""
    notes = "; ".join(note for note in (one.preset, one.budget) if note)
    return f"{number(one.value)}{spread}" + (f" ({notes})" if notes else "")


def found_lines(claim: Claim) -> list[str]:
    """Return a line for each finding of a claim. Findings that the verdict ignores are in brackets."""
    return [found_line(one) if one.judged else f"[{found_line(one)}]" for one in claim.found]


def lines(item: Item, outcome: Outcome | None) -> list[str]:
    """Return the lines about an item for a terminal.

    Each claim has its verdict, its subject, the printed and the computed numbers. Tables follow.
    """
    said = []
    for claim in claims(item, outcome):
        seen = "; ".join(found_lines(claim))
        said.append(f"{claim.verdict:<13} {claim.printed.what}: {claim.printed.shown} | {seen}")
        if why := reason(claim):
            said.append(f"{'':<13} {why}")
    for table in outcome.tables if outcome is not None else []:
        said += [" | ".join(row) for row in (table.columns, *table.rows)]
    return said


def reason(claim: Claim) -> str:
    """Return the reason when the verdict of a claim is "differs" or "opposite", otherwise an empty text."""
    return claim.reason if claim.verdict in ("differs", "opposite") else ""


def markdown() -> str:
    """Return the table of docs/papers.md: the number of stored claims of each paper with each verdict."""
    rows = [f"| | {' | '.join(VERDICTS)} |", f"|---|{'---|' * len(VERDICTS)}"]
    for paper, title in PAPERS.items():
        mine = [item for item in ITEMS.values() if item.paper == paper]
        said = counts(claim for item in mine for claim in claims(item, stored(item.name)))
        rows.append(f"| {title.partition(':')[0]} | {' | '.join(map(str, said.values()))} |")
    return "\n".join(rows)


def counted(outcomes: Mapping[str, Outcome]) -> str:
    """Return a sentence with the number of claims for each verdict."""
    every = [claim for name, outcome in outcomes.items() for claim in claims(ITEMS[name], outcome)]
    return ", ".join(f"{count} {verdict}" for verdict, count in counts(every).items())


def html(outcomes: Mapping[str, Outcome]) -> bytes:
    """Return the HTML file that reports on the items of `outcomes`, in the order of `ITEMS`."""
    import plotly.offline

    body, number_of = [], 0
    for paper, title in PAPERS.items():
        mine = [item for item in ITEMS.values() if item.paper == paper and item.name in outcomes]
        if not mine:
            continue
        body.append(f"<h2>{escape(title)}</h2>")
        for item in mine:
            outcome = outcomes[item.name]
            body.append(f"<h3 id='{item.name}'>{escape(item.label)}: {escape(item.title)}</h3>")
            when = datetime.fromtimestamp(outcome.computed, UTC).strftime("%Y-%m-%d")
            body.append(f"<p><small>computed on {when} in {outcome.seconds:.1f} s</small></p>")
            body.append(table(claims(item, outcome)))
            if outcome.said:
                body.append(f"<p>{escape(outcome.said)}</p>")
            for panel in outcome.panels:
                number_of += 1
                body.append(f"<p><b>{escape(panel.title)}</b></p>")
                body.append(_drawn(panel_figure(asdict(panel)), number_of))
            for gallery in outcome.galleries:
                number_of += 1
                body.append(f"<p><b>{escape(gallery.title)}</b></p>")
                figure = gallery_figure(gallery.title, gallery.shape, gallery.columns)
                body.append(_drawn(figure, number_of))
            for one in outcome.tables:
                body.append(f"<p><b>{escape(one.title)}</b></p>{text_table(one)}")
            for words in outcome.words:
                lines = "".join(f"<li>{escape(', '.join(one))}</li>" for one in words.lists)
                body.append(f"<p><b>{escape(words.title)}</b></p><ol>{lines}</ol>")
    meaning = "".join(f"<li><b>{verdict}</b>: {said}</li>" for verdict, said in VERDICTS.items())
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{ALONE}"><title>The four papers, reproduced</title>
<style>{STYLE}</style><script>{plotly.offline.get_plotlyjs()}</script></head><body>
<h1>The four papers, reproduced</h1>
<p>Every figure and table, printed beside computed: {escape(counted(outcomes))}. A verdict is about the
paper's own reading. Stronger methods and other measures stand in a column of their own and are not
judged.</p><ul>{meaning}</ul> {"".join(body)}
</body></html> """.encode()


def table(lines: list[Claim], beside: bool = True) -> str:
    """Return the claims `lines` as an HTML table with printed and computed numbers, verdict and reason.

    With `beside`, a further column has the findings that are not judged.
    """
    rows = []
    for claim in lines:
        verdict, printed = claim.verdict, claim.printed
        own, others = (_found_html(claim, judged) for judged in (True, False))
        why = f"<br><small>{escape(reason(claim))}</small>" if reason(claim) else ""
        rows.append(
            f"<tr><td>{escape(printed.what)}</td><td>{escape(printed.shown)} "
            f"<small>{escape(printed.where)}</small></td><td>{own}</td>"
            f"{f'<td><small>{others}</small></td>' if beside else ''}"
            f"<td><span class='{verdict.split()[0]}'>{verdict}</span>{why}</td></tr>"
        )
    names = ["What", "Printed", "The paper’s way, here", *["Beside it, not judged"] * beside, "Verdict"]
    head = f"<tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>"
    return f"<table class='claims'>{head}{''.join(rows)}</table>"


def beside_table(lines: list[Claim]) -> str:
    """Return an HTML table of the findings that are not judged."""
    rows = "".join(
        f"<tr><td>{escape(claim.printed.what)}</td><td>{_found_html(claim, judged=False)}</td></tr>"
        for claim in lines
    )
    return f"<table class='claims'><tr><th>What</th><th>Beside the paper’s way</th></tr>{rows}</table>"


def _found_html(claim: Claim, judged: bool) -> str:
    """Return the judged or the other findings of a claim as HTML, a dash when there are none."""
    return "<br>".join(escape(found_line(one)) for one in claim.found if one.judged is judged) or "–"


def text_table(one: Table) -> str:
    """Return a table of texts as an HTML table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in one.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in one.rows)
    return f"<table class='claims'><tr>{head}</tr>{rows}</table>"


def _drawn(figure, number_of: int) -> str:
    """Return a figure as HTML. The number makes its id, since a random id would change the file."""
    return figure.to_html(
        full_html=False, include_plotlyjs=False, div_id=f"figure-{number_of}", config={"displaylogo": False}
    )
