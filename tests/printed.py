"""Read numbers back from what is printed of them, and hold them against exact floats."""

import re
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from html import unescape

import streamlit as st

from nspca.presentation.numerals import OPTIMAL_GAP

NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def read_number(text: str) -> Fraction:
    """Return the exact number of a text such as ``12,346``, ``1.02 × 10⁸``, ``1e-07`` or ``99.2 %``."""
    text = text.removesuffix("%").strip().replace(",", "")
    mantissa, _, power = text.partition(" × 10")
    number = Fraction(mantissa)
    return number * Fraction(10) ** int(power.translate(_LOWERED)) if power else number


COUNTED = r"(?! ?(?:features?|nonzero|weights?|others|samples|[a-z]+ each|more))"
"""After a number that says how many, not how much."""
BOUND = re.compile(
    rf"(?:(?:explain|explains|keep) more than|nothing above|Nothing above|exceeds|does not exceed|at most"
    rf"|bound \([^)]*(?:\([^)]*\))?[^)]*\) is) ({NUMBER})\b{COUNTED}( %)?"
)
GUARANTEE = re.compile(
    rf"(?:at least|At least|A proof of|promises|yours is at least) ({NUMBER}) %|({NUMBER}) % proved"
)
REACHED = re.compile(
    rf"(?:component explains|best so far|Best so far|best found|a variance of|: value|best|explains) "
    rf"({NUMBER})\b(?! of )( %)?|({NUMBER})( %)? has been reached"
)
BOUND_WORDS = re.compile(r"more than|nothing above|exceeds|at most|at least|proved")
SPEC = re.compile(r"%\{(\w+)(?:\[(\d)\])?(?::([^}]*))?\}")
LOOSE = Fraction(11, 1000)
"""Largest relative distance of a printed bound from the exact one: three digits and a little."""


@dataclass(frozen=True)
class Truth:
    """Exact floats behind a text: the bound, the value, and what is 100 %."""

    upper: float
    value: float
    unit: float = 1.0
    chance: float = 1.0

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.value) / Fraction(self.upper) if self.value < self.upper else Fraction(1)


class Walk:
    """Counts the numbers that were read and held against the truth."""

    def __init__(self):
        self.bounds = self.guarantees = self.values = self.optimal = 0

    def text(self, text: str, truth: Truth) -> None:
        """Check every bound, guarantee and value that a text names."""
        text = re.sub(r"<br ?/?>|\n", " ", unescape(text)).replace("**", "")
        chance = re.findall(rf"probability(?: at least)? ({NUMBER}) %", text)
        for said in chance:
            assert read_number(said) <= 100 * Fraction(truth.chance), text
        text = re.sub(rf",? ?with probability at least {NUMBER} %", "", text)
        above = [self.bound(said, percent, truth, text) for said, percent in BOUND.findall(text)]
        if "proved optimal" in text:
            assert truth.ratio >= 1 - Fraction(OPTIMAL_GAP), text
            self.optimal += 1
        for pair in GUARANTEE.findall(text):
            self.guarantee("".join(pair), truth.ratio, text)
        for one, percent, other, of in REACHED.findall(text):
            said, unit = one or other, Fraction(truth.unit) if percent or of else Fraction(100)
            exact = 100 * Fraction(truth.value) / unit
            number = read_number(said)
            assert abs(number - exact) <= LOOSE * exact, f"{said} for {float(exact)!r} in: {text}"
            assert all(number <= bound for bound in above), text
            self.values += 1

    def bound(self, said: str, percent: str, truth: Truth, text: str = "") -> Fraction:
        """Check one printed bound, and return it."""
        exact = Fraction(truth.upper) * (100 / Fraction(truth.unit) if percent else 1)
        number = read_number(said)
        assert exact <= number <= exact * (1 + LOOSE), f"{said} for the bound {float(exact)!r} in: {text}"
        self.bounds += 1
        return number

    def guarantee(self, said: str, ratio: Fraction, text: str = "") -> None:
        """Check one printed guarantee, in per cent."""
        number = read_number(said)
        assert number <= 100 * ratio < number + Fraction(2, 10), (
            f"{said} for {float(100 * ratio)!r} in: {text}"
        )
        assert number < 100 or ratio == 1, text
        self.guarantees += 1

    def figure(self, figure, truth_of) -> None:
        """Check the description, the notes and every hover; `truth_of` gives the truth of a point."""
        for trace, point, text in hovers(figure):
            truth = truth_of(trace, point)
            named = BOUND.search(text) or GUARANTEE.search(text)
            assert truth is not None or not named, f"nobody knows what {trace.name} is held against: {text}"
            if truth is not None:
                self.text(text, truth)


def hovers(figure):
    """Yield every point of every trace with the text that a browser shows for it."""
    for trace in figure.data:
        template = getattr(trace, "hovertemplate", None)
        if not template or trace.x is None:
            continue
        if trace.type in ("heatmap", "surface"):  # a colour for each point: of values, never of bounds
            assert not BOUND_WORDS.search(template), template
            continue
        for i in range(len(trace.x)):

            def fill(found, i=i, trace=trace):
                name, index, spec = found.groups()
                value = getattr(trace, name)
                value = value if isinstance(value, str) or value is None else value[i]
                value = value if index is None else value[int(index)]
                return format(value, spec) if spec else f"{value}"

            yield trace, i, SPEC.sub(fill, template).replace("<extra></extra>", "")


class Page:
    """Stands for Streamlit: keeps what is said and the tables that are shown, as a browser shows them."""

    column_config = st.column_config

    def __init__(self):
        self.said, self.shown = [], []

    def __getattr__(self, name):
        return lambda *given, **options: self._take(name, given, options)

    def _take(self, name, given, options):
        if name in ("markdown", "caption", "success"):
            self.said.append(given[0])
        elif name == "metric":
            self.said.append(f"{given[0]} {given[1]}")
        elif name == "dataframe":
            self.shown.append((given[0], options["column_config"]))
        return nullcontext()

    def cell(self, column: str) -> list[str]:
        """Return a column of the last table as the browser writes it: to nearest, by the column's format."""
        rows, config = self.shown[-1]
        form = config[column]["type_config"].get("format", "%s")
        return [form % value for value in rows[column]]
