"""Write dates and durations in words. No Streamlit calls."""

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

MINUTE, HOUR = 60, 3600


def zone(name: str | None) -> tzinfo | None:
    """Return the time zone that a browser names; None for an unknown one, which means that of the server."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, LookupError):
        return None


def when(seconds: float, now: float, place: tzinfo | None) -> str:
    """Return a time relative to `now` in words, such as ``today 14:05`` or ``12 March 2025``.

    Both times are seconds since 1970. `place` is a time zone, as `zone` returns it.
    """
    then, today = (datetime.fromtimestamp(moment, place) for moment in (seconds, now))
    days = (today.date() - then.date()).days
    day = {0: "today", 1: "yesterday"}.get(days, f"{then.day} {then:%B}")
    return f"{day} {then:%H:%M}" if then.year == today.year or days < 2 else f"{day} {then.year}"


def day(seconds: float, place: tzinfo | None) -> str:
    """Return the date of a time in seconds since 1970 and a time zone, such as ``12 March 2025``."""
    then = datetime.fromtimestamp(seconds, place)
    return f"{then.day} {then:%B} {then.year}"


def how_long(seconds: float) -> str:
    """Return a duration in words, such as ``0.4 s``, ``12 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    if seconds < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"


def between(least: float, most: float) -> str:
    """Return a duration of `least` to `most` seconds: ``2 to 20 seconds``, ``40 seconds to 3 minutes``.

    One number with ``about`` where the two are less than a factor of two apart.
    """
    if most < 2 * least:
        return f"about {roughly(least)}"
    first, last = roughly(least), roughly(most)
    number, unit = first.split()
    return f"{number} to {last}" if last.endswith(unit.removesuffix("s") + "s") else f"{first} to {last}"


def roughly(seconds: float) -> str:
    """Return an estimated duration, rounded to ``5 seconds``, ``2 minutes`` or ``3 hours``."""
    for unit, size in (("hour", HOUR), ("minute", MINUTE)):
        if seconds >= 1.5 * size:
            return f"{round(seconds / size)} {unit}s"
    whole = max(1, round(seconds))
    return f"{whole if whole < 10 else 5 * round(whole / 5)} second{'s' * (whole > 1)}"
