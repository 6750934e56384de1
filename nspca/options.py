"""Checks of option values, shared by the methods' `Options`; each raises `InvalidOption` with the way out."""

import math
from dataclasses import fields

from nspca.errors import InvalidOption


def whole(name: str, value, low: int, high: int | None = None) -> None:
    """Require a whole number in [low, high]."""
    if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
        upper = f" to {high}" if high is not None else " or more"
        raise InvalidOption(f"{name} must be a whole number, {low}{upper}, got {value!r}")


def positive(name: str, value) -> None:
    """Require a finite number above 0."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value <= 0:
        raise InvalidOption(f"{name} must be a number above 0, got {value!r}")


def made(Options: type, method: str, given: dict):
    """``Options(**given)``, with a sentence that lists the options when a name is not one of them."""
    known = [f.name for f in fields(Options)]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InvalidOption(f"{method} has no option {unknown[0]!r}; its options are {', '.join(known)}")
    return Options(**given)
