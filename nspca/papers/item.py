"""Data types for the reproduced figures and tables: printed statements, computed outcomes, and verdicts.

The modules of the papers make each `Outcome`. The page Papers and `nspca.papers.report` show it beside what
is printed, as claims.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, cast

from pydantic import TypeAdapter, ValidationError

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
"""Every verdict with its condition, the most favourable first."""
TOLERANCE = 0.02
"""Maximum relative difference of numbers that agree. Scalings and starts that no paper states change more."""

Kind = Literal["same", "most", "least", "gain", "statement", "drawn"]
"""Kinds of printed entries, see `Printed`."""


@dataclass(frozen=True)
class Printed:
    """A number, statement or drawing that a paper prints, by its key within the figure or table.

    `what` is its subject, and `where` its page or section. Its `kind` is "same" for a number to be
    reproduced, "most" or "least" for one that is better when larger or smaller, "gain" for the excess of one
    total over another in per cent, "statement" for a sentence of the text, and "drawn" for a drawing without
    numbers. `value` is the number, and `shown` the printed text; statements are paraphrased. A curve that
    leaves the printed `axis` does not agree, whatever its trend.
    """

    key: str
    what: str
    where: str
    kind: Kind
    value: float | None = None
    shown: str = ""
    axis: tuple[float, float] | None = None


def _read_printed(path: Path) -> dict[str, tuple[Printed, ...]]:
    found: dict[str, tuple[Printed, ...]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            value = float(row["value"]) if row["value"] else None
            axis = (float(row["low"]), float(row["high"])) if row["low"] else None
            subject = row["key"], row["what"], row["where"], cast(Kind, row["kind"])
            entry = Printed(*subject, value, row["shown"], axis)
            found[row["item"]] = (*found.get(row["item"], ()), entry)
    return found


PRINTED = _read_printed(Path(__file__).with_name("printed.csv"))
"""Every number and statement that the papers print about their experiments, by the name of its item.

Statements of the text are listed with the figure or table that they are about. Places are pages of the
proceedings, counted from 1, or sections of the 2014 paper.
"""


@dataclass(frozen=True)
class Found:
    """A computed counterpart of a `Printed`: a number to compare, or a sentence about a statement or drawing.

    `preset` is the reading of the paper, which may leave scaling, start or measure open. A statement holds,
    its contrary does (False), or neither (None). What is not `judged`, such as a stronger method, is shown
    and does not count for the verdict. `budget` is the permitted work of a heuristic, such as "3 x 10000
    random points", `spread` its smallest and largest value over the seeds, of which `value` is the best.
    `reach` is the smallest and largest value of a curve, which is compared with the printed axis.
    """

    value: float | str
    preset: str = ""
    holds: bool | None = None
    judged: bool = True
    budget: str = ""
    spread: list[float] | None = None
    reach: list[float] | None = None

    @property
    def number(self) -> float:
        """The value of a finding that holds a number."""
        assert isinstance(self.value, float)
        return self.value


@dataclass(frozen=True)
class Curve:
    """A curve in a panel; `spread` is the standard deviation at each point, and `marks` draws the points."""

    name: str
    x: list[float]
    y: list[float]
    spread: list[float] | None = None
    marks: bool = True
    dash: str = "solid"


def curve(name: str, x: Iterable[Any], y: Iterable[Any], **look: Any) -> Curve:
    """Return the curve through some points, given as numbers of any type."""
    return Curve(name, [*map(float, x)], [*map(float, y)], **look)


@dataclass(frozen=True)
class Panel:
    """A pair of axes, called `x` and `y`, with curves; the ranges are those of the paper if it prints ticks.

    The region between the two curves named in `band` is filled, and at `share_at`, an x of both, the figure
    prints the share of the first in the second. `logarithmic` is "x", "y", "xy" or ""; with `equal`, both
    axes have the same scale.
    """

    title: str
    x: str
    y: str
    curves: list[Curve]
    xrange: list[float] | None = None
    yrange: list[float] | None = None
    band: list[str] | None = None
    share_at: float | None = None
    logarithmic: str = ""
    equal: bool = False


@dataclass(frozen=True)
class Gallery:
    """Components drawn as images of `shape` (rows, columns); `columns` has the weights of each."""

    title: str
    shape: list[int]
    columns: list[list[float]]


@dataclass(frozen=True)
class Words:
    """Lists of words, one list for each topic."""

    title: str
    lists: list[list[str]]


@dataclass(frozen=True)
class Table:
    """A table whose cells are texts."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Outcome:
    """The computed counterpart of an `Item`: drawings, and findings by the key of their `Printed`.

    `said` are remarks on the reproduction. `reasons` say of each key whose verdict is "differs" or "opposite"
    the reading under which it agrees, or that none is known. The computation took `seconds` of the CPU, and
    ended at the time `computed`, in seconds since 1970.
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
        return json.dumps(_round_numbers(asdict(self)) | times, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read an outcome that `to_json` wrote.

        Raises
        ------
        InvalidData
            For text that `to_json` did not write.
        """
        try:
            return TypeAdapter(cls).validate_json(text)
        except ValidationError as error:
            raise InvalidData(f"The outcome of a paper's item cannot be read: {error}.") from error


def _round_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _round_numbers(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_round_numbers(one) for one in value]
    if isinstance(value, bool | int) or not hasattr(value, "__float__"):
        return value
    return float(f"{float(value):.6g}")


@dataclass(frozen=True)
class Item:
    """A figure or table of a paper, by a name for addresses such as ``asteris2014-figure-4``.

    `label` is its name in the paper, such as "Figure 4". `make` computes its outcome, and raises `Absent`
    when all the data sets that it `needs` (see `nspca.papers.originals`) are missing; with `any_of`, one of
    them is enough for a part of the outcome. `code` is Python code that computes the main number. `said` and
    `reasons` are for its outcomes.
    """

    name: str
    label: str
    title: str
    printed: tuple[Printed, ...]
    make: Callable[[Report], Outcome]
    needs: tuple[str, ...] = ()
    code: str = ""
    any_of: bool = False
    said: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """Key of the paper in `nspca.papers.PAPERS`."""
        return self.name.partition("-")[0]


@dataclass(frozen=True)
class Claim:
    """A printed number or statement with its findings; `reason` explains an unfavourable verdict."""

    printed: Printed
    found: tuple[Found, ...]
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """The most favourable verdict of the findings that are judged; "data not here" if there are none."""
        said = self._verdicts()
        return next((one for one in VERDICTS if one in said), "data not here")

    @property
    def support(self) -> tuple[int, int]:
        """Number of readings of the paper that give "agrees" or "better", and of all that are judged."""
        said = self._verdicts()
        return sum(one in ("agrees", "better") for one in said), len(said)

    def _verdicts(self) -> list[Verdict]:
        judged = [one for one in self.found if one.judged]
        if self.printed.kind == "drawn":
            return ["not printed"] * len(judged)
        return [_judge(self.printed, one) for one in judged]


def _judge(printed: Printed, found: Found) -> Verdict:
    if printed.kind == "statement":
        holds = None if found.holds and not _is_on_axis(printed, found) else found.holds
        return "differs" if holds is None else "agrees" if holds else "opposite"
    assert printed.value is not None and isinstance(found.value, float | int)
    ratio = found.value / printed.value
    if printed.kind == "gain":  # compare the totals, since a difference of totals has no relative error
        ratio = (100 + found.value) / (100 + printed.value)
    if abs(ratio - 1) <= TOLERANCE:
        return "agrees"
    beyond = {"most": ratio > 1, "gain": ratio > 1, "least": ratio < 1}.get(printed.kind, False)
    return "better" if beyond else "differs"


def _is_on_axis(printed: Printed, found: Found) -> bool:
    """Tell whether a curve stays within the printed axis, up to `TOLERANCE` of its length."""
    if printed.axis is None or found.reach is None:
        return True
    low, high = printed.axis
    room = TOLERANCE * (high - low)
    return low - room <= found.reach[0] and found.reach[1] <= high + room


def claims(item: Item, outcome: Outcome | None) -> list[Claim]:
    """Return a claim for each `Printed` of an item, with the findings of an outcome (None: no findings)."""
    outcome = Outcome() if outcome is None else outcome
    return [
        Claim(printed, tuple(outcome.found.get(printed.key, ())), outcome.reasons.get(printed.key, ""))
        for printed in item.printed
    ]


def counts(many: Iterable[Claim]) -> dict[Verdict, int]:
    """Return the number of claims with each verdict."""
    said = [claim.verdict for claim in many]
    return {verdict: said.count(verdict) for verdict in VERDICTS}
