"""Numbers and names in the words a person reads. No Streamlit calls."""

import math
import re

from nspca.api import OPTIMAL_GAP
from nspca.plots import ratio_sentence

SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|$~&^=:]")
SOURCES = {"real": "original data", "stand-in": "stand-in", "user": "your data"}


def plain(text: object) -> str:
    """`text` as Markdown that shows exactly these characters: names come from files, and files from anybody."""
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};", " ".join(str(text).split()))


def proof(ratio: float | None, probability: float = 0.0) -> str:
    """The sentence beside every result: "at least 99.2 % of the best possible, proved".

    Parameters
    ----------
    ratio : value over certified upper bound, or None when nothing was certified
    probability : of the bound being wrong; 0 is certain
    """
    certain = f"proved but for a chance of {probability:.1g}" if probability else "proved"
    if ratio is not None and 1 - ratio <= OPTIMAL_GAP:
        return f"the best possible, {certain} up to rounding"
    return ratio_sentence(ratio).replace("proved", certain)


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def number(value: float) -> str:
    """Four significant digits, grouped, and powers of ten only where they are needed."""
    if not value or not math.isfinite(value):
        return f"{value:g}"
    if not 1e-3 <= abs(value) < 1e7:
        return f"{value:.4g}"
    return f"{value:,.{max(0, 3 - math.floor(math.log10(abs(value))))}f}"


def things(count: int, one: str, many: str | None = None) -> str:
    """``3 features``, ``1 feature``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
