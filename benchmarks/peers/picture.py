"""Draw the figure of docs/results.md as SVG text: a panel for each table, time to the right, loss downwards.

No drawing library is used: none is available below the dashboard, and the file is identical on every machine.
"""

from html import escape
from math import ceil, floor, log10
from pathlib import Path

from benchmarks.peers.report import best_of, problems

FILE = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "peers.svg"
ACROSS, WIDE, HIGH = 4, 290, 230
LEFT, RIGHT, TOP, BOTTOM = 60, 14, 30, 34
LEGEND = 56
LEAST, MOST = -5.0, 0.0
"""Powers of ten of the lost share of the best value that a panel shows: 1e-5 and less on its upper edge."""
LOST = {-5: "≤ 0.001 %", -4: "0.01 %", -3: "0.1 %", -2: "1 %", -1: "10 %", 0: "all"}
COLOURS = {
    "SparsePCA": "#8a8f98",
    "MiniBatchSparsePCA": "#5d4037",
    "NMF": "#0f9d74",
    "abess": "#b86fa0",
    "nsprcomp": "#2a85c7",
    "threshold": "#c9b800",
    "em": "#e08e00",
    "tpower": "#d9622b",
    "auto": "#8f0d2c",
    "auto, proved": "#8f0d2c",
}


def drawn(rows: list[dict]) -> str:
    """Return the figure of a race as SVG."""
    answered = [row for row in rows if row["value"] is not None]
    names = list(dict.fromkeys(row["table"] for row in answered))
    best = {_problem(group[0]): best_of(group) for group in problems(rows)}
    first, last = _decades([row["cpu"] for row in answered])
    width, height = ACROSS * WIDE, LEGEND + ceil(len(names) / ACROSS) * HIGH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_legend({row["name"]: row["ours"] for row in answered}, width),
    ]
    for i, name in enumerate(names):
        x, y = (i % ACROSS) * WIDE, LEGEND + (i // ACROSS) * HIGH
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _frame(name, first, last)
        for row in answered:
            if row["table"] == name:
                parts.append(_mark(row, best[_problem(row)], first, last))
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _problem(row):
    return row["table"], row["k"], row["nonneg"]


def _decades(times):
    """Return the powers of ten around all times."""
    known = [log10(max(time, 1e-4)) for time in times] or [0.0]
    return floor(min(known)), max(ceil(max(known)), floor(min(known)) + 1)


def _at(power, first, last):
    return LEFT + (power - first) / (last - first) * (WIDE - LEFT - RIGHT)


def _down(power):
    return TOP + (power - LEAST) / (MOST - LEAST) * (HIGH - TOP - BOTTOM)


def _frame(name, first, last):
    """Return title, grid and ticks of a panel."""
    lines = [f'<text x="{LEFT}" y="18" font-weight="bold">{escape(name)}</text>']
    for power in range(first, last + 1):
        x = _at(power, first, last)
        lines.append(f'<path d="M{x:.1f} {TOP}V{HIGH - BOTTOM}" stroke="#ddd"/>')
        said = f"{10**power:g} s" if power >= 0 else f"{10 ** (power + 3):g} ms"
        lines.append(
            f'<text x="{x:.1f}" y="{HIGH - BOTTOM + 15}" text-anchor="middle" font-size="10">{said}</text>'
        )
    for power, said in LOST.items():
        y = _down(power)
        lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDE - RIGHT}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 5}" y="{y + 3:.1f}" text-anchor="end" font-size="9">{said}</text>')
    return lines


def _mark(row, best, first, last):
    """Return a disc for a method of this package or a square for a peer, empty when any sign is allowed."""
    lost = log10(min(max(1 - row["value"] / best, 10**LEAST), 1.0))
    x = _at(log10(max(row["cpu"], 10.0**first)), first, last)
    return _shape(x, _down(lost), row["name"], row["ours"], row["nonneg"])


def _shape(x, y, name, ours, full):
    colour = COLOURS.get(name, "#333")
    fill = colour if full else "#fff"
    paint = f'fill="{fill}" fill-opacity=".8" stroke="{colour}" stroke-width="1.5"'
    if ours:
        ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="none" stroke="{colour}"/>'
        return f'{ring if "proved" in name else ""}<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {paint}/>'
    return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {paint}/>'


def _legend(names, width):
    """Return two lines: the names of the marks, and the meaning of the axes."""
    said = "Share of the best value that is lost (upwards is better) and CPU seconds (leftwards is better)."
    lines = [f'<text x="{LEFT}" y="20">{said} Full: nonnegative; empty: any sign.</text>']
    x = float(LEFT)
    for name, ours in names.items():
        lines.append(_shape(x, 40.0, name, ours, True))
        shown = f"{name} (ours)" if ours else name
        lines.append(f'<text x="{x + 13:.0f}" y="44">{escape(shown)}</text>')
        x += 30 + 6.6 * len(shown)
    return lines
