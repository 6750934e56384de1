"""Checks of option values, shared by the methods' `Options`; each raises `InvalidOption` with the way out."""

import inspect
import re
import sys
from dataclasses import fields

import numpy as np

from nspca.errors import InvalidOption, shown

LARGEST = 2**31 - 1
"""No count is larger: arrays of that length are not indexed everywhere, and nobody waits for as many
steps.
"""


def is_whole(value) -> bool:
    """Whether it is a whole number: yes and durations are not, which Python and NumPy count among them."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def whole(name: str, value, low: int, high: int = LARGEST) -> None:
    """Require a whole number in [low, high]."""
    if not is_whole(value) or not low <= value <= high:
        upper = f" to {high}" if high != LARGEST or (is_whole(value) and value > high) else " or more"
        raise InvalidOption(f"{name} must be a whole number, {low}{upper}, got {shown(value)}")


def positive(name: str, value) -> None:
    """Require a finite number above 0."""
    if not (is_whole(value) or isinstance(value, float | np.floating)) or not 0 < value <= sys.float_info.max:
        raise InvalidOption(f"{name} must be a number above 0, got {shown(value)}")


def one_of(name: str, value, choices) -> None:
    """Require one of some texts."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidOption(f"{name} must be {' or '.join(map(repr, choices))}, got {shown(value)}")


def flag(name: str, value) -> bool:
    """`value` as a bool, if it is one: a text such as "no" is not."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidOption(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def known_seed(value) -> int:
    """`value` as an int, if it is a seed, of any size."""
    if not is_whole(value) or value < 0:
        raise InvalidOption(f"seed must be a whole number, 0 or more, got {shown(value)}")
    return int(value)


_TOLD = re.compile(r"^(\w+) : (.+)\n((?:    .+\n?)+)", re.MULTILINE)


def told(Options: type) -> dict[str, tuple[str, str]]:
    """What the docstring of an `Options` says of each: name -> its type, and the text in one line."""
    text = inspect.getdoc(Options) or ""
    return {name: (kind, " ".join(said.split())) for name, kind, said in _TOLD.findall(text)}


def made(Options: type, method: str, given: dict):
    """``Options(**given)``, with a sentence that lists the options when a name is not one of them.

    Values are single ones; those of switches, the options that are True or False from the start, too.
    """
    known = {f.name: f for f in fields(Options)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InvalidOption(f"{method} has no option {unknown[0]!r}; its options are {', '.join(known)}")
    given = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
    for name, value in given.items():
        if isinstance(known[name].default, bool):
            flag(name, value)
        elif not isinstance(value, int | float | str | None):
            raise InvalidOption(f"{name} must be one number or text, got {shown(value)}")
    return Options(**given)
