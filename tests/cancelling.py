"""End a call by its report, as somebody does who presses Cancel."""

import pytest

from nspca.errors import Cancelled


def cancelled(call, *given, when=lambda seen: True, **words):
    """Return the exception of a call that is cancelled once `when(events so far)` is true, and all events."""
    seen = []

    def report(event):
        seen.append(event)
        if when(seen):
            raise Cancelled("enough")

    with pytest.raises(Cancelled) as stopped:
        call(*given, report=report, **words)
    return stopped.value, seen
