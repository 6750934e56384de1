"""Numbers and names in the words a person reads. No Streamlit calls."""

import base64
import html
import math
import re
from collections.abc import Sequence

from nspca.api import OPTIMAL_GAP
from nspca.plots import certainty, kind_words, ratio_sentence
from nspca.presentation.numerals import format_bound, percent_down, percent_up
from nspca.specs.published import PAPER

SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|$~&^=:]")
MOST_DIGITS = 2  # after the point of two shares that hardly differ
NOUNS = {"image": "pixel", "spectrum": "wavelength", "words": "word", "table": "feature"}
SOURCES = {
    "real": "original data",
    "copy": "copy with other values",
    "stand-in": "stand-in",
    "user": "your data",
}


def plain(text: object) -> str:
    """`text` as Markdown that shows exactly these characters: names come from files, and files from
    anybody.
    """
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};", " ".join(str(text).split()))


def proof(ratio: float | None) -> str:
    """The sentence beside every result: "at least 99.2 % of the best possible, proved".

    Parameters
    ----------
    ratio : value over certified upper bound, or None when nothing was certified
    """
    if ratio is not None and 1 - ratio <= OPTIMAL_GAP:
        return "the best possible, proved up to rounding"
    return ratio_sentence(ratio)


def down(share: float) -> str:
    """A share of something in whole per cent, or a digit more when it is small; rounded down."""
    return percent_down(share, 0 if share >= 0.1 else 1)


def shares(reached: float, possible: float) -> tuple[str, str]:
    """Two shares of one thing: what is reached is rounded down, what nobody can pass is rounded up, to the
    digits that tell them apart.
    """
    gap = 100 * (possible - reached)
    digits = next((digits for digits in range(MOST_DIGITS) if gap >= 10.0**-digits), MOST_DIGITS)
    return percent_down(reached, digits), percent_up(possible, digits)


def others(probability: float) -> str:
    """Return sentences on the two published bounds, and on how far each can be relied on."""
    if not math.isfinite(probability):
        return "The 2014 paper's bound was not computed for this sweep."
    return (
        f"The 2014 paper's bound holds for all k together {certainty(probability)}; the rank-3 bound is its "
        "exact form, and proved."
    )


OTHERS = (
    f"The 2014 paper's bound is the value of its eps-net (eps = {PAPER.eps:g}) on the rank-3 part of the "
    "covariance, divided by 1 − eps, plus the fourth eigenvalue. The rank-3 bound has the optimum of that "
    "part instead. Both are drawn no higher than the leading eigenvalue, itself a bound."
)
"""How the two are computed."""


def beside(name: str, upper: float, kind: str, seen) -> str:
    """Return what a published bound says about a component.

    Parameters
    ----------
    upper : the bound, in the units of the data
    kind : what it comes from, a key of `nspca.plots.published.KINDS`
    seen : row of the component in what `nspca.plots.seen_by_the_paper` or `seen_at_rank_3` gives
    """
    line = f"The {name} ({plain(kind_words(kind))}) is {format_bound(upper)} for the same problem"
    if seen.kind == kind:
        return f"{line}: {ratio_sentence(seen.ratio, seen.probability)}."
    if upper < seen.value:
        return f"{line}, below what the component explains: it does not hold here."
    return f"{line}, no better than the leading eigenvalue, which gives {ratio_sentence(seen.ratio)}."


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def drawing(svg: str, style: str = "", alt: str = "") -> str:
    """Return an SVG drawing as HTML for `st.html`, which takes SVG itself out."""
    source = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{source}" alt="{html.escape(alt)}" style="{style}">'


def things(count: int, one: str, many: str | None = None) -> str:
    """``3 features``, ``1 feature``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def sizes(k: int | Sequence[int]) -> str:
    """``k = 15``, ``8 components of 15``, ``3 components of 15, 15 and 10``."""
    if isinstance(k, int):
        return f"k = {k}"
    of = str(k[0]) if len(set(k)) == 1 else listed(list(map(str, k)))
    return f"{things(len(k), 'component')} of {of}"


def listed(names: list[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
