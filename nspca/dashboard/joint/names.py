"""Names that a person gives to topics: kept in the address beside the run, and written into what is taken
home.
"""

import re

from nspca.dashboard.app import state

LONGEST = 40  # characters of a name
GIVEN = re.compile(r"([a-z0-9_]{1,20}):(\d{1,2})=(.{1,%d})" % LONGEST)  # noqa: UP031


def given() -> dict[tuple[str, int], str]:
    """By method and place of the topic, counted from 1; what somebody wrote into the address by hand and is
    no name is left out.
    """
    found = (GIVEN.fullmatch(part) for part in state.get("named").split("|"))
    return {(match[1], int(match[2])): match[3] for match in found if match}


def give(method: str, place: int, name: str) -> None:
    """Name a topic; an empty name takes it back."""
    name = " ".join(name.replace("|", "/").split())[:LONGEST]
    names = {**given(), (method, place): name}
    state.put(named="|".join(f"{m}:{j}={text}" for (m, j), text in sorted(names.items()) if text))
