"""Features found again by their names, in whatever order a table has them."""

from collections.abc import Sequence

from nspca.errors import InvalidProblem, shown

LISTED = 5
"""Names that a sentence lists; of more it says how many."""


def positions(wanted: Sequence[str], given: Sequence[str]) -> list[int]:
    """Where each of the `wanted` names is among the `given` ones, which may be more and in any order.

    Raises
    ------
    InvalidProblem
        When names are missing, which it lists with those that nobody wanted; or when one is there twice.
    """
    where = {name: i for i, name in enumerate(given)}
    known = set(wanted)
    missing = [name for name in wanted if name not in where]
    if missing:
        others = [name for name in given if name not in known]
        beside = f"; it has {listed(others)} besides" if others else ""
        raise InvalidProblem(
            f"the table must have the {len(wanted)} features that are needed, by name, got one without "
            f"{listed(missing)}{beside}; rename its columns, or give those that are missing"
        )
    twice = [name for i, name in enumerate(given) if name in known and where[name] != i]
    if twice:
        raise InvalidProblem(
            f"features must have different names, got {listed(twice)} more than once; rename those columns"
        )
    return [where[name] for name in wanted]


def listed(names: Sequence[str]) -> str:
    """Some names in one line."""
    said = ", ".join(shown(str(name)) for name in names[:LISTED])
    return said if len(names) <= LISTED else f"{said} and {len(names) - LISTED} more"
