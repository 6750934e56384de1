"""Findings: what reading decided, and what it only suspects, each with the option that turns it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from nspca.errors import Way


@dataclass(frozen=True)
class Finding:
    """One decision or suspicion of reading: a sentence, its place, and the evidence, a phrase after "since".

    `ways` are values of options that turn the decision, the most likely one first. Of a suspicion nothing was
    changed, and a person should look.
    """

    what: str
    where: str = ""
    why: str = ""
    ways: tuple[Way, ...] = ()
    is_suspicion: bool = False

    @property
    def option(self) -> str:
        """Name of the option that turns the finding; empty when none does."""
        return self.ways[0].option if self.ways else ""

    @property
    def value(self) -> Any:
        """Value of `option` that turns the finding."""
        return self.ways[0].value if self.ways else None

    @property
    def sentence(self) -> str:
        """The finding without its ways, as one sentence."""
        what = self.what.removesuffix(".")
        return f"{what}, since {self.why}." if self.why else f"{what}."

    def say(self, written: Callable[[Way], str] = str) -> str:
        """Return the sentence with the ways, each as `written` returns it; by default as Python."""
        ways = " or ".join(map(written, self.ways))
        return f"{self.sentence} To turn this: {ways}." if ways else self.sentence

    def __str__(self) -> str:
        return self.say()

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values for JSON."""
        ways = [{"option": way.option, "value": way.value, "words": way.words} for way in self.ways]
        return {
            "what": self.what,
            "where": self.where,
            "why": self.why,
            "suspicion": self.is_suspicion,
            "ways": ways,
        }


def suspicion(what: str, *ways: Way, where: str = "", why: str = "") -> Finding:
    """Return a suspicion: nothing was changed, and `ways` act on it."""
    return Finding(what, where, why, ways, is_suspicion=True)


def as_findings(said: Iterable["Finding | str"]) -> tuple[Finding, ...]:
    """Return findings, each plain sentence as one without an option."""
    return tuple(one if isinstance(one, Finding) else Finding(one) for one in said)
