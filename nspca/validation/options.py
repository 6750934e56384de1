"""Checks of option values for all methods; each raises `InvalidOption` with the way out.

A method has a dataclass `Options` on `MethodOptions`, which checks each field by its type and metadata. The
API makes it by `made`. Forms and docs/methods.md print its docstring by `option_texts`. In each check `name`
is the option in the message.
"""

import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nspca.errors import InvalidOption, shown

LARGEST = 2**31 - 1
"""Largest accepted count: longer arrays cannot be indexed on all platforms."""


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number and neither boolean nor duration, which subclass int."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number of Python or NumPy, nan and infinity included; see `is_whole`."""
    return is_whole(value) or isinstance(value, float | np.floating)


def check_whole(name: str, value: Any, low: int, high: int = LARGEST) -> None:
    """Require a whole number in [low, high]."""
    if not is_whole(value) or not low <= value <= high:
        upper = f" to {high}" if high != LARGEST or (is_whole(value) and value > high) else " or more"
        raise InvalidOption(f"{name} must be a whole number, {low}{upper}, got {shown(value)}")


def positive(name: str, value: Any) -> None:
    """Require a finite number above 0."""
    if not is_number(value) or not 0 < value <= sys.float_info.max:
        raise InvalidOption(f"{name} must be a number above 0, got {shown(value)}")


def one_of(name: str, value: Any, choices: Iterable[str]) -> None:
    """Require one of some texts."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidOption(f"{name} must be {' or '.join(map(repr, choices))}, got {shown(value)}")


def flag(name: str, value: Any) -> bool:
    """Return `value` as a bool; refuse anything else, such as the text "no"."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidOption(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def known_seed(value: Any) -> int:
    """Return `value` as an int; refuse anything but a whole number from 0 up."""
    if not is_whole(value) or value < 0:
        raise InvalidOption(f"seed must be a whole number, 0 or more, got {shown(value)}")
    return int(value)


@dataclass(frozen=True)
class MethodOptions:
    """Base of the options of methods, which checks every field by its declaration.

    A text is one of the ``metadata["choices"]``. A whole number is from ``metadata["least"]`` (1 by default)
    to ``metadata["most"]``. Any other number is above 0, or the least, and below ``metadata["below"]`` where
    that is given. None is accepted where it is the default.
    """

    def __post_init__(self) -> None:
        for one in fields(self):
            value, limits = getattr(self, one.name), one.metadata
            if value is None and one.default is None:
                continue
            if isinstance(one.default, bool):
                flag(one.name, value)
            elif "choices" in limits:
                one_of(one.name, value, limits["choices"])
            elif one.type in (int, int | None):
                check_whole(one.name, value, limits.get("least", 1), limits.get("most", LARGEST))
            elif not (is_number(value) and value == limits.get("least")):
                positive(one.name, value)
                if value >= limits.get("below", np.inf):
                    raise InvalidOption(f"{one.name} must be below {limits['below']}, got {shown(value)}")


_OPTION = re.compile(r"^(\w+) : (.+)\n((?:    .+\n?)+)", re.MULTILINE)


def option_texts(Options: type) -> dict[str, tuple[str, str]]:
    """Return what the docstring of an `Options` class says: name of an option -> (type, text in one line)."""
    text = inspect.getdoc(Options) or ""
    return {name: (kind, " ".join(said.split())) for name, kind, said in _OPTION.findall(text)}


def made(Options: type, method: str, given: dict[str, Any]) -> Any:
    """Return ``Options(**given)``, the options of a method after its defaults and checks.

    An unknown name raises an error that names the `method` and lists its options.

    Each value is a single number or text, and True or False for options whose default is a bool.
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
