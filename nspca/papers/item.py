"""Types of a figure or table of a paper: the printed statements, the computed ones, and their verdicts."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from nspca.errors import InvalidData
from nspca.progress import Report

Verdict = Literal["agrees", "better", "differs", "opposite", "data not here", "not printed"]
VERDICTS: dict[Verdict, str] = {
    "agrees": "within 2 % of the printed number (of a gain: of the total that it implies), in one of the "
    "readings that the text leaves open; or as the text says, and within the printed axis",
    "better": "more than 2 % beyond the printed number, in the direction that is sought",
    "differs": "more than 2 % from the printed number, outside the printed axis, or less than the text says",
    "opposite": "the contrary of the text",
    "data not here": "the data are not on this machine, or cannot be obtained",
    "not printed": "drawn in the paper without numbers, so there is nothing to compare with",
}
"""Every verdict, and when it is given."""
TOLERANCE = 0.02
"""Relative difference up to which two numbers agree. Scalings and starts that no paper states change more."""

Kind = Literal["same", "most", "least", "gain", "statement", "drawn"]


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
        "gain": per cent by which a total exceeds another one, to be as large as possible.
        "statement": a sentence of the text. "drawn": only a drawing.
    value : float, optional
        The number.
    shown : str
        The printed text; a statement is in words of our own.
    axis : (float, float), optional
        Ends of the printed axis. A curve that leaves it does not agree, whatever its trend.
    """

    key: str
    what: str
    where: str
    kind: Kind
    value: float | None = None
    shown: str = ""
    axis: tuple[float, float] | None = None


@dataclass(frozen=True)
class Found:
    """A computed counterpart of something printed.

    Parameters
    ----------
    value : float or str
        The number to compare with the printed one, or a sentence on what was seen.
    preset : str
        The reading: the scaling, start or measure that was used, where the paper leaves that open.
    holds : bool, optional
        True if a statement holds, False if its contrary does, None if neither does.
    judged : bool
        True for a reading of the paper, False for a stronger method or another measure, which stands beside
        it and does not count for the verdict.
    budget : str
        Work that a heuristic was allowed, such as "3 x 10000 random points".
    spread : (float, float), optional
        Smallest and largest value over the seeds of a heuristic, whose best one is `value`.
    reach : (float, float), optional
        Smallest and largest value of the curve, to be compared with the printed axis.
    """

    value: float | str
    preset: str = ""
    holds: bool | None = None
    judged: bool = True
    budget: str = ""
    spread: list[float] | None = None
    reach: list[float] | None = None


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
class Table:
    """A table of texts with the names of its columns."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Outcome:
    """The result of computing an item: the numbers found for everything printed, and the drawings.

    `reasons` has a sentence for each key whose verdict is "differs" or "opposite": the reading in which it
    agrees, or that none is known. `seconds` are CPU seconds.
    """

    found: dict[str, list[Found]] = field(default_factory=dict)
    panels: list[Panel] = field(default_factory=list)
    galleries: list[Gallery] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    said: str = ""
    reasons: dict[str, str] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
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
            tables = [Table(**table) for table in raw.pop("tables", [])]  # older files lack these
            return cls(found, panels, galleries, words, tables=tables, **raw)
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
    """Something printed beside what was found, with a verdict and the reason for it."""

    printed: Printed
    found: tuple[Found, ...]
    reason: str = ""

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
        holds = None if found.holds and not _on_axis(printed, found) else found.holds
        return "differs" if holds is None else "agrees" if holds else "opposite"
    assert printed.value is not None and isinstance(found.value, float | int)
    ratio = found.value / printed.value
    if printed.kind == "gain":  # the total that it implies: a difference of two totals has no relative error
        ratio = (100 + found.value) / (100 + printed.value)
    if abs(ratio - 1) <= TOLERANCE:
        return "agrees"
    beyond = {"most": ratio > 1, "gain": ratio > 1, "least": ratio < 1}.get(printed.kind, False)
    return "better" if beyond else "differs"


def _on_axis(printed: Printed, found: Found) -> bool:
    """Tell whether a curve stays within the printed axis, up to `TOLERANCE` of its length."""
    if printed.axis is None or found.reach is None:
        return True
    low, high = printed.axis
    room = TOLERANCE * (high - low)
    return low - room <= found.reach[0] and found.reach[1] <= high + room


def claims(item: Item, outcome: Outcome | None) -> list[Claim]:
    """Return everything that the item prints, each with what was found and the reason of its verdict."""
    outcome = Outcome() if outcome is None else outcome
    return [
        Claim(printed, tuple(outcome.found.get(printed.key, ())), outcome.reasons.get(printed.key, ""))
        for printed in item.printed
    ]


def counts(many: Iterable[Claim]) -> dict[Verdict, int]:
    """Return the number of claims with each verdict."""
    said = [claim.verdict for claim in many]
    return {verdict: said.count(verdict) for verdict in VERDICTS}
