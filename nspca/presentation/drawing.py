"""Draw small figures as plain SVG for notebooks, without a plotting library or scripts.

The notebook views (``_repr_html_``) of results, memberships, problems and shards are made by `block` from
these figures.

Every figure is an XML fragment; names from data are escaped, and characters invalid in XML are replaced.
"""

import re
from collections.abc import Sequence
from html import escape

from nspca.presentation.colours import CONTEXT, NEGATIVE, POSITIVE, PROVED
from nspca.presentation.numerals import format_bound, format_value
from nspca.presentation.phrases import short

MOST_BARS = 30
"""Maximum number of weights drawn as bars; the others are counted."""
PER_ROW = 40
"""Number of squares in a row."""
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(words: str) -> str:
    """Return words escaped for XML."""
    return escape(NO_XML.sub("\ufffd", words))


def bars(weights: Sequence[tuple[str, float]]) -> str:
    """Draw a bar for each weight with its name, largest first."""
    shown = sorted(weights, key=lambda one: -abs(one[1]))
    names, more = [short(name) for name, _ in shown[:MOST_BARS]], len(shown) - MOST_BARS
    longest = max((abs(weight) for _, weight in shown), default=1.0) or 1.0
    left = 7 * max(map(len, [*names, ""])) + 10
    rows = []
    for row, (name, (_, weight)) in enumerate(zip(names, shown, strict=False)):
        y, length = 18 * row, 200 * abs(weight) / longest
        rows.append(
            f'<text x="{left - 6}" y="{y + 13}" text-anchor="end">{text(name)}</text>'
            f'<rect x="{left}" y="{y + 3}" width="{length:.1f}" height="12" fill="{_colour(weight)}"/>'
            f'<text x="{left + 5 + length:.1f}" y="{y + 13}">{weight:+.3f}</text>'
        )
    if more > 0:
        rows.append(f'<text x="{left}" y="{18 * len(rows) + 13}">and {more} more</text>')
    return svg(left + 260, 18 * len(rows), rows)


def pixels(weights: Sequence[tuple[str, float]], places: Sequence[int], shape: tuple[int, int]) -> str:
    """Draw named weights as pixels of an image, stronger for larger weights.

    `places` are their pixels, counted row by row; `shape` is (rows, columns).
    """
    height, width = shape
    side = max(2.0, min(16.0, 180 / max(shape)))
    longest = max((abs(weight) for _, weight in weights), default=1.0) or 1.0
    size = f'width="{side * width:g}" height="{side * height:g}"'
    frame = f'<rect {size} fill="{CONTEXT}" fill-opacity="0.15"/>'
    cells = [
        f'<rect x="{side * (j % width):g}" y="{side * (j // width):g}" width="{side:g}" height="{side:g}" '
        f'fill="{_colour(weight)}" fill-opacity="{0.15 + 0.85 * abs(weight) / longest:.2f}">'
        f"<title>{text(short(name))}: {weight:+.3f}</title></rect>"
        for (name, weight), j in zip(weights, places, strict=True)
    ]
    return svg(side * width, side * height, [frame, *cells])


def squares(cells: Sequence[tuple[str, str, bool]]) -> str:
    """Draw a row of squares, wrapped after `PER_ROW`; each has a colour, a title, and a frame or none."""
    drawn = [
        f'<rect x="{12 * (i % PER_ROW) + 1}" y="{12 * (i // PER_ROW) + 1}" width="9" height="9" '
        f'fill="{colour}" stroke="{"currentColor" if framed else "none"}"><title>{text(title)}</title></rect>'
        for i, (colour, title, framed) in enumerate(cells)
    ]
    return svg(12 * min(PER_ROW, len(cells)), 12 * -(-len(cells) // PER_ROW), drawn)


def gauge(ratio: float) -> str:
    """Draw a proved ratio as a filled bar."""
    whole = f'<rect width="300" height="10" fill="{CONTEXT}" fill-opacity="0.3"/>'
    return svg(300, 10, [whole, f'<rect width="{300 * ratio:.1f}" height="10" fill="{PROVED}"/>'])


def curves(lines: Sequence[tuple[str, Sequence[tuple[float, float]], str]]) -> str:
    """Draw lines of values against k, each as (name, points (k, value), colour)."""
    points = [point for _, line, _ in lines for point in line]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    first, last, low, high = min(xs), max(xs), min(ys), max(ys)

    def place(x: float, y: float) -> str:
        right, up = (x - first) / ((last - first) or 1), (y - low) / ((high - low) or 1)
        return f"{70 + 300 * right:.1f},{140 - 120 * up:.1f}"

    drawn = [
        f'<path d="M64 14V146H376" fill="none" stroke="{CONTEXT}"/>',
        f'<text x="60" y="24" text-anchor="end">{format_bound(high)}</text>',
        f'<text x="60" y="144" text-anchor="end">{format_value(low)}</text>',
        f'<text x="70" y="162">k = {first:g}</text><text x="370" y="162" text-anchor="end">{last:g}</text>',
    ]
    for number, (name, line, colour) in enumerate(lines):
        drawn.append(
            f'<polyline points="{" ".join(place(x, y) for x, y in line)}" fill="none" stroke-width="2" '
            f'stroke="{colour}"/>'
            f'<text x="386" y="{24 + 16 * number}" fill="{colour}">{text(short(name))}</text>'
        )
    return svg(500, max(168, 32 + 16 * len(lines)), drawn)


def _colour(weight: float) -> str:
    return POSITIVE if weight > 0 else NEGATIVE


def svg(width: float, height: float, parts: Sequence[str]) -> str:
    """Return one figure of the given size that inherits the text colour of the page, light or dark."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-size="12" fill="currentColor" '
        f'style="max-width:100%">{"".join(parts)}</svg>'
    )


def block(lines: str, *rows: Sequence[str]) -> str:
    """Return lines of text with rows of figures below them, as HTML."""
    said = "<br/>".join(map(text, lines.splitlines()))
    beside = "".join(
        f'<div style="display:flex;flex-wrap:wrap;gap:8px 20px;margin-top:8px">{"".join(row)}</div>'
        for row in rows
    )
    return f"<div><div>{said}</div>{beside}</div>"
