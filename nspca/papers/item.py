"""The words for a figure or table of a paper: what it prints, what was computed here, what to say of both."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from nspca.errors import InvalidData
from nspca.progress import Report

Verdict = Literal["agrees", "better", "differs", "opposite", "data not here", "not printed"]
VERDICTS: dict[Verdict, str] = {
    "agrees": "within 2 % of what is printed, with the best of what could be meant; or as the text says",
    "better": "more than 2 % beyond what is printed, in the direction that is sought",
    "differs": "more than 2 % away from what is printed, or not as far as the text says",
    "opposite": "the contrary of what the text says",
    "data not here": "printed for data that are not on this machine, or not to be had",
    "not printed": "drawn there without numbers, so that there is nothing to hold ours against",
}
"""Every verdict, and when it is given."""
TOLERANCE = 0.02
"""Relative difference up to which two numbers agree: scalings and starts that no paper tells make more."""

Kind = Literal["same", "most", "least", "statement", "drawn"]


@dataclass(frozen=True)
class Printed:
    """A number, sentence or drawing that a paper prints.

    Parameters
    ----------
    key : str
        Name within the item.
    what : str
        Subject of the number or sentence.
    where : str
        Page or section.
    kind : str
        "same": a number to be reproduced. "most" or "least": a number to be as large or as small as possible.
        "statement": a sentence of the text. "drawn": only a drawing.
    value : float, optional
        The number.
    shown : str
        The printed text; a statement is in words of our own.
    """

    key: str
    what: str
    where: str
    kind: Kind
    value: float | None = None
    shown: str = ""


@dataclass(frozen=True)
class Found:
    """A computed counterpart of something printed.

    Parameters
    ----------
    value : float or str
        The number to compare with the printed one, or a sentence on what was seen.
    preset : str
        The scaling, start or measure that was used, where the paper leaves that open.
    holds : bool, optional
        True if a statement holds, False if its contrary does, None if neither does.
    judged : bool
        False for results that are not the paper's way and are shown for comparison only.
    """

    value: float | str
    preset: str = ""
    holds: bool | None = None
    judged: bool = True


@dataclass(frozen=True)
class Curve:
    """A curve, or points; `spread` is the standard deviation at each."""

    name: str
    x: list[float]
    y: list[float]
    spread: list[float] | None = None
    marks: bool = True
    dash: str = "solid"


@dataclass(frozen=True)
class Panel:
    """A pair of axes with curves, with the paper's own ranges where it prints ticks.

    Parameters
    ----------
    band : (str, str), optional
        Names of two curves; the region between them is filled.
    logarithmic : str
        "x", "y", "xy" or "".
    """

    title: str
    x: str
    y: str
    curves: list[Curve]
    xrange: list[float] | None = None
    yrange: list[float] | None = None
    band: list[str] | None = None
    logarithmic: str = ""
    equal: bool = False


@dataclass(frozen=True)
class Gallery:
    """Components as pictures: their weights, row by row of an image."""

    title: str
    shape: list[int]
    columns: list[list[float]]


@dataclass(frozen=True)
class Words:
    """Lists of words, one a topic."""

    title: str
    lists: list[list[str]]


@dataclass(frozen=True)
class Outcome:
    """The result of computing an item: the numbers found for everything printed, and the drawings."""

    found: dict[str, list[Found]] = field(default_factory=dict)
    panels: list[Panel] = field(default_factory=list)
    galleries: list[Gallery] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    said: str = ""
    seconds: float = 0.0
    computed: float = 0.0

    def to_json(self) -> str:
        """Return the outcome as JSON text; numbers have six digits."""
        times = {"seconds": round(self.seconds, 2), "computed": round(self.computed)}
        return json.dumps(_short(asdict(self)) | times, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read an outcome that `to_json` wrote.

        Raises
        ------
        InvalidData
            For anything else.
        """
        try:
            raw = json.loads(text)
            found = {key: [Found(**one) for one in many] for key, many in raw.pop("found").items()}
            panels = [
                Panel(**(panel | {"curves": [Curve(**curve) for curve in panel["curves"]]}))
                for panel in raw.pop("panels")
            ]
            galleries = [Gallery(**gallery) for gallery in raw.pop("galleries")]
            words = [Words(**lists) for lists in raw.pop("words")]
            return cls(found, panels, galleries, words, **raw)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidData(f"The outcome of a paper's item cannot be read: {error}.") from error


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    if isinstance(value, bool | int) or not hasattr(value, "__float__"):
        return value
    return float(f"{float(value):.6g}")


@dataclass(frozen=True)
class Item:
    """A figure or table.

    Parameters
    ----------
    name : str
        For addresses and the command line, such as ``asteris2014-figure-4``.
    label, title : str
        As the paper calls it; what it shows.
    printed : tuple of Printed
    make : callable
        ``make(report) -> Outcome``; raises `Absent` when all it needs is missing.
    needs : tuple of str
        Names of the data, see `nspca.papers.originals`.
    any_of : bool
        One of them is enough: what needs the others stays empty.
    code : str
        The Python of its main number.
    """

    name: str
    label: str
    title: str
    printed: tuple[Printed, ...]
    make: Callable[[Report], Outcome]
    needs: tuple[str, ...] = ()
    code: str = ""
    any_of: bool = False

    @property
    def paper(self) -> str:
        """The key of its paper in `nspca.papers.PAPERS`."""
        return self.name.partition("-")[0]


@dataclass(frozen=True)
class Claim:
    """Something printed beside what was found, with a verdict."""

    printed: Printed
    found: tuple[Found, ...]

    @property
    def verdict(self) -> Verdict:
        """The best that can be said of what is judged."""
        judged = [one for one in self.found if one.judged]
        if not judged:
            return "data not here"
        if self.printed.kind == "drawn":
            return "not printed"
        said = {_verdict(self.printed, one) for one in judged}
        return next(one for one in VERDICTS if one in said)


def _verdict(printed: Printed, found: Found) -> Verdict:
    if printed.kind == "statement":
        return "differs" if found.holds is None else "agrees" if found.holds else "opposite"
    assert printed.value is not None and isinstance(found.value, float | int)
    ratio = found.value / printed.value
    if abs(ratio - 1) <= TOLERANCE:
        return "agrees"
    beyond = {"most": ratio > 1, "least": ratio < 1}.get(printed.kind, False)
    return "better" if beyond else "differs"


def claims(item: Item, outcome: Outcome | None) -> list[Claim]:
    """Everything that the item prints, each with what was found."""
    found = {} if outcome is None else outcome.found
    return [Claim(printed, tuple(found.get(printed.key, ()))) for printed in item.printed]


def counts(many: Iterable[Claim]) -> dict[Verdict, int]:
    """Return the number of claims with each verdict."""
    said = [claim.verdict for claim in many]
    return {verdict: said.count(verdict) for verdict in VERDICTS}
