"""Folders of shards that the dashboard may open: those in the folder named by ``NSPCA_SHARDS``.

The page Data lists them with `served`. Specs open one by its name with `opened`.
"""

import os
from pathlib import Path

from nspca.errors import InvalidData
from nspca.shards.reader import FILE, Shards

MOST = 200
"""Maximum number of folders listed."""


def served() -> list[str]:
    """Return the names of the folders, in order; none when the setting or its folder is missing."""
    place = _place()
    if place is None:
        return []
    try:
        names = sorted(path.name for path in place.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [name for name in names if _inside(place, name) is not None][:MOST]


def opened(name: str) -> Shards:
    """Open the folder of shards with this name.

    Raises
    ------
    InvalidData
        When there is no such folder. Links, hidden folders and paths that lead elsewhere are refused.
    """
    place = _place()
    path = None if place is None else _inside(place, name)
    if path is None:
        raise InvalidData(
            "There is no folder of shards of this name on the server: choose one that is listed."
        )
    return Shards(path)


def stamp(name: str) -> str:
    """Return a text that changes when the folder with this name is written again; empty when there is none.

    Caches of opened folders have it in their key.
    """
    place = _place()
    path = None if place is None else _inside(place, name)
    if path is None:
        return ""
    try:
        known = (path / FILE).stat()
    except OSError:  # it was deleted meanwhile
        return ""
    return f"{path} {known.st_mtime_ns} {known.st_size}"


def _place() -> Path | None:
    """Return the folder that ``NSPCA_SHARDS`` names, or None."""
    named = os.environ.get("NSPCA_SHARDS")
    return Path(named) if named else None


def _inside(place: Path, name: str) -> Path | None:
    """Return the path of a folder of shards by its name; None for links and for paths that lead elsewhere."""
    path = place / name
    plain = name not in ("", ".", "..") and Path(name).name == name and not name.startswith(".")
    try:
        if not plain or path.is_symlink() or path.resolve().parent != place.resolve():
            return None
        return path if (path / FILE).is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None
