"""Names that a visitor gives to topics or components, kept in the address and written into downloads."""

import re

from nspca.dashboard.app import state

LONGEST = 40
"""Maximum characters of a name."""
GIVEN = re.compile(r"([a-z0-9_]{1,20}):(\d{1,2})=(.{1,%d})" % LONGEST)  # noqa: UP031
"""One name in the address: method, number of the component from 1, and the name."""


def given() -> dict[tuple[str, int], str]:
    """Return the names in the address by method and number of the component from 1; drop invalid ones."""
    found = (GIVEN.fullmatch(part) for part in state.get("named").split("|"))
    return {(match[1], int(match[2])): match[3] for match in found if match}


def give(method: str, place: int, name: str) -> None:
    """Store the name of component number `place` (from 1) of a method; an empty name removes it."""
    name = " ".join(name.replace("|", "/").split())[:LONGEST]
    names = {**given(), (method, place): name}
    state.put(named="|".join(f"{m}:{j}={text}" for (m, j), text in sorted(names.items()) if text))
