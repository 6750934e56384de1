"""Write values into addresses of the dashboard, and read them from addresses, which are untrusted.

The fields of specs and the state of the pages (`dashboard/app/state`) name the `Text` of their values here.
Readers raise ValueError or KeyError for an invalid text.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_DIGITS = 15
"""Maximum digits of a whole number in an address, which a browser can represent exactly."""
MOST_OPTIONS = 60
"""Maximum number of options in one address; all methods together have fewer."""


@dataclass(frozen=True)
class Text:
    """Functions that read and write one kind of value in an address or on the command line."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    shown: Callable[[str], Any] | None = None  # the value as a form shows it, such as 5 for a share of .05
    words: str = ""  # what a text must be, for the refusal of another one
    metavar: str = ""  # the value in the help of the command line


@dataclass(frozen=True)
class Names:
    """Functions that read and write a value that takes several names of an address."""

    texts: Mapping[str, Text]  # name in the address -> kind of its own value, as an input of a form has it
    read: Callable[[Mapping[str, str]], Any]  # the value, from the texts of an address by name
    write: Callable[[Any], dict[str, str]]


def read_integer(text: str) -> int:
    """Return the whole number in a text of at most `MOST_DIGITS` digits."""
    if not re.fullmatch(rf"-?\d{{1,{MOST_DIGITS}}}", text):
        raise ValueError(text)
    return int(text)


def read_flag(text: str) -> bool:
    """Return False for ``0`` and True for ``1``."""
    return {"0": False, "1": True}[text]


def read_percent(text: str) -> float:
    """Return a number of per cent from 0 to 100, with at most four decimals."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,4})?", text) or float(text) > 100:
        raise ValueError(text)
    return float(text)


def read_word(text: str) -> str:
    """Return a text unchanged if it has only letters, digits, hyphens and underscores."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", text):
        raise ValueError(text)
    return text


def read_words(text: str) -> list[str]:
    """Return words separated by commas, without repetitions."""
    return list(dict.fromkeys(read_word(part) for part in text.split(",") if part))


def read_integers(text: str) -> list[int]:
    """Return numbers of features separated by commas, without repetitions and in increasing order."""
    numbers = sorted({read_integer(part) for part in text.split(",") if part})
    if numbers and numbers[0] < 0:
        raise ValueError(text)
    return numbers


def read_groups(text: str) -> list[list[int]]:
    """Return groups of at least two features, such as ``3,4~7,8,9``; a feature stays in its first group."""
    taken: set[int] = set()
    groups = []
    for part in text.split("~"):
        group = [number for number in read_integers(part) if number not in taken]
        if len(group) > 1:
            groups.append(group)
            taken.update(group)
    return groups


def read_options(text: str) -> dict[str, str]:
    """Return options of methods as texts: ``em.restarts:3~em.starts:paper``."""
    pairs = [
        re.fullmatch(r"([a-z]+\.[a-z]+):([A-Za-z0-9.+-]{1,24})", part) for part in text.split("~") if part
    ]
    if len(pairs) > MOST_OPTIONS or not all(pairs):
        raise ValueError(text)
    return {pair[1]: pair[2] for pair in pairs if pair}


def write(value: Any) -> str:
    """Return the text of a value in an address, the inverse of `read_integer` and the other readers."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, dict):
        return "~".join(f"{name}:{one}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ("~" if any(isinstance(one, list | tuple) for one in value) else ",").join(map(write, value))
    return str(value)


INTEGER, FLAG, WORD = Text(read_integer, metavar="N"), Text(read_flag, write), Text(read_word)
WORDS, INTEGERS, GROUPS = Text(read_words, write), Text(read_integers, write), Text(read_groups, write)
PLAIN = Text(str)
SHARE = Text(
    lambda text: read_percent(text) / 100,
    lambda value: f"{round(100 * value, 4):g}",
    read_percent,
    "per cent from 0 to 100",
    "PERCENT",
)
"""A share of a whole, written in per cent."""
OPPOSITE = Text(lambda text: not read_flag(text), lambda value: write(not value), read_flag)
"""A flag whose name in the address says the opposite: ``signed=1`` means not nonnegative."""
COLUMN = Text(
    lambda text: int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text,
    shown=str,
    metavar="COLUMN",
)
"""A column of a file, by its number or else its name."""
EFFORT = Text(
    lambda text: None if text == "none" else read_word(text),
    lambda value: "none" if value is None else value,
    read_word,
)
"""The effort of a proof; ``none`` for no proof."""
