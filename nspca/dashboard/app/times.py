"""When, and how long, in words. No Streamlit calls."""

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

MINUTE, HOUR = 60, 3600


def zone(name: str | None) -> tzinfo | None:
    """The time zone that a browser names; None, that of the server, when it is unknown."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, LookupError):
        return None


def when(seconds: float, now: float, place: tzinfo | None) -> str:
    """``today 14:05``, ``yesterday 09:12``, ``12 March 14:05``, ``12 March 2025``."""
    then, today = (datetime.fromtimestamp(moment, place) for moment in (seconds, now))
    days = (today.date() - then.date()).days
    day = {0: "today", 1: "yesterday"}.get(days, f"{then.day} {then:%B}")
    return f"{day} {then:%H:%M}" if then.year == today.year or days < 2 else f"{day} {then.year}"


def day(seconds: float, place: tzinfo | None) -> str:
    """``12 March 2025``."""
    then = datetime.fromtimestamp(seconds, place)
    return f"{then.day} {then:%B} {then.year}"


def how_long(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    return (
        f"{whole // MINUTE} min {whole % MINUTE} s"
        if seconds < HOUR
        else f"{whole // HOUR} h {whole % HOUR // MINUTE} min"
    )


def between(least: float, most: float) -> str:
    """Return a time that is only known to lie between two: ``2 to 20 seconds``, ``40 seconds to 3 minutes``.

    One number with ``about`` where the two are less than a factor of two apart.
    """
    if most < 2 * least:
        return f"about {roughly(least)}"
    first, last = roughly(least), roughly(most)
    number, unit = first.split()
    return f"{number} to {last}" if last.endswith(unit.removesuffix("s") + "s") else f"{first} to {last}"


def roughly(seconds: float) -> str:
    """``5 seconds``, ``2 minutes``, ``3 hours``: of what is only guessed."""
    for unit, size in (("hour", HOUR), ("minute", MINUTE)):
        if seconds >= 1.5 * size:
            return f"{round(seconds / size)} {unit}s"
    whole = max(1, round(seconds))
    return f"{whole if whole < 10 else 5 * round(whole / 5)} second{'s' * (whole > 1)}"
