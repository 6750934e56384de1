"""Write numbers, names and counts as text for visitors. No Streamlit calls."""

import base64
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nspca.data import Dataset
from nspca.data.findings import Finding
from nspca.data.suspicions import are_genes, are_proteins
from nspca.errors import InvalidData
from nspca.plots.theme import certainty, ratio_sentence
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import OPTIMAL_GAP, percent_down, percent_up
from nspca.presentation.phrases import listed as listed
from nspca.presentation.phrases import rival_name
from nspca.presentation.phrases import things as things
from nspca.progress import Event
from nspca.specs.published import PAPER

SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|$~&^=:]")
NOUNS = {"image": "pixel", "spectrum": "band", "words": "word", "table": "feature"}
SOURCES = {
    "real": "real data",
    "copy": "copy with other values",
    "relative": "in the place of the original",
    "user": "your data",
}
OFFER = "choose on the page Data how the file is read"
"""Advice in an error about a file that can be read otherwise. Pages with a choice of their own replace it."""
PASSES = "covariance", "reading"  # stages of a pass over the data
STAGES = {
    "certificate": "proving a limit",
    "climbs on the sketch": "improving first answers",
    "cones": "searching the main directions",
    "dual": "tightening the limit",
    "exchanges": "exchanging features",
    "features": "looking at the features one by one",
    "fixing": "ruling features out",
    "forward": "adding features one by one",
    "joint proof": "proving a limit",
    "kicks": "changing the best answer at random",
    "power steps": "multiplying and cutting",
    "sampling": "trying random directions",
    "starts": "improving first answers",
    "swaps": "exchanging features",
    "truncation": "keeping the largest weights",
}
"""Names of stages in solvers and bounds that say nothing to a visitor, and what is done in each. A stage that
is called as its method is named like the method in a comparison.
"""


def plain(text: object, offer: str = OFFER) -> str:
    """Return Markdown that shows exactly the characters of `text`, such as an untrusted name from a file.

    An error about a file tells the visitor to do what `offer` says, not to set an option of Python. A
    finding is said without its options.
    """
    if isinstance(text, InvalidData) and text.ways:
        text = f"{text.message.removesuffix('.')}, or {offer}."
    elif isinstance(text, Finding):
        text = text.sentence
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};", " ".join(str(text).split()))


def stage(event: Event) -> str:
    """Return what a run is doing in a few words; a pass over the data with its share in per cent."""
    if event.stage in PASSES and event.total:
        return f"reading the table, {100 * event.done // event.total} %"
    return plain(STAGES.get(event.stage) or rival_name(event.stage))


def instead_of(asked: int | None, shown: int, most: int) -> str:
    """Return a sentence if the k of the address is not the one that a page shows; empty if it is.

    `most` is the largest k that the page can show.
    """
    if asked is None or asked == shown:
        return ""
    why = "is not on this curve" if 1 <= asked <= most else f"must be from 1 to {most:,} here"
    return f"k = {asked} {why}: k = {shown} is shown."


def noun(data: Dataset) -> str:
    """Return the noun for a feature of the data: pixel, word, band, gene, protein or feature."""
    if data.is_covariance or data.kind != "table":
        return "feature" if data.is_covariance else NOUNS[data.kind]
    is_sample = data.name.startswith(("leukemia", "all-aml"))
    last_words = [name.rstrip(")") for name in data.feature_names[:200]]  # some have the probe in brackets
    if not is_sample and are_proteins(last_words):
        return "protein"
    return "gene" if is_sample or are_genes(last_words) else "feature"


TableKind = Literal["image", "words", "table"]
ONE: dict[TableKind, Literal["component", "part", "topic"]] = {
    "image": "part",
    "words": "topic",
    "table": "component",
}
"""The noun for a component, by kind of table."""


@dataclass(frozen=True)
class Nouns:
    """Nouns for one component and one feature of a kind of table."""

    kind: TableKind
    one: Literal["component", "part", "topic"]
    feature: str

    @property
    def many(self) -> str:
        """Plural noun for components: "parts", "topics" or "components"."""
        return f"{self.one}s"

    @property
    def samples(self) -> str:
        """Plural noun for the rows: "images", "documents" or "samples"."""
        return {"image": "images", "words": "documents"}.get(self.kind, "samples")

    def count(self, number: int) -> str:
        """Return a number of components with their noun: ``3 parts`` or ``1 part``."""
        return things(number, self.one)

    def sized(self, sizes: Sequence[int]) -> str:
        """Return components with their sizes: ``5 parts, each of 40 pixels``."""
        count = self.count(len(sizes))
        if len(set(sizes)) == 1:
            return f"{count}{', each' * (len(sizes) > 1)} of {self.features(sizes[0])}"
        return f"{count} of {listed(list(map(str, sizes)))} {self.feature}s"

    def features(self, number: int) -> str:
        """Return a number of features with their noun: ``3 pixels`` or ``1 pixel``."""
        return things(number, self.feature)


def nouns_of(data: Dataset) -> Nouns:
    """Return the nouns for a data set, with that for its features, such as "gene"."""
    kind = kind_of(data)
    return Nouns(kind, ONE[kind], noun(data))


def kind_of(data: Dataset) -> TableKind:
    """Return the kind of table of a data set; a covariance is always "table"."""
    if data.is_covariance:
        return "table"
    if data.image_shape is not None or data.kind == "image":
        return "image"
    return "words" if data.kind == "words" else "table"


def proof(ratio: float | None) -> str:
    """Return the phrase beside every result: "at least 99.2 % of the best possible, proved"."""
    if ratio is not None and 1 - ratio <= OPTIMAL_GAP:
        return "the best possible, proved up to rounding"
    return ratio_sentence(ratio)


def down(share: float) -> str:
    """Return a share in whole per cent, rounded down, with one more digit when it is small."""
    return percent_down(share, 0 if share >= 0.1 else 1)


def shares(reached: float, possible: float) -> tuple[str, str]:
    """Return two shares in per cent, a reached one rounded down and an upper bound rounded up."""
    digits = decimals(possible)
    return percent_down(reached, digits), percent_up(possible, digits)


def decimals(share: float) -> int:
    """Return the digits after the point of a share in per cent that has three digits; at least 1."""
    return max(1, 1 - math.floor(math.log10(10 * share))) if share > 0 else 1


def others(probability: float) -> str:
    """Return sentences about the two published bounds in a figure, of which one holds with a `probability`.

    It is NaN when the bound was not computed.
    """
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
"""Sentences on how the two published bounds are computed."""


def size(count: float) -> str:
    """Return a number of bytes as text, such as "1.5 MB"."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def drawing(svg: str, style: str = "", alt: str = "") -> Markup:
    """Return HTML with an SVG drawing as an image, since `st.html` removes SVG elements.

    `style` is CSS of the image, and `alt` its description.
    """
    return render("drawing", source=base64.b64encode(svg.encode()).decode(), style=style, alt=alt)


def unbroken(text: str) -> str:
    """Return the text with no line break between a number and its per cent sign, for headings."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")
