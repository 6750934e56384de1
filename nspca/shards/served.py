"""Folders of shards that an operator lets the dashboard open: those in the folder that ``NSPCA_SHARDS``
names, by their names there, and nothing beyond.
"""

import os
from pathlib import Path

from nspca.errors import InvalidData
from nspca.shards.manifest import FILE
from nspca.shards.reader import Shards

MOST = 200
"""Folders that are listed."""


def served() -> list[str]:
    """Names of the folders, in order; none when the setting is not made, or its folder is not there."""
    place = _place()
    if place is None:
        return []
    try:
        names = sorted(path.name for path in place.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [name for name in names if _inside(place, name) is not None][:MOST]


def opened(name: str) -> Shards:
    """The folder of that name.

    Raises
    ------
    InvalidData
        When there is none: a link, a path that leads elsewhere and a hidden folder are none.
    """
    place = _place()
    path = None if place is None else _inside(place, name)
    if path is None:
        raise InvalidData(
            "There is no folder of shards of this name on the server: choose one that is listed."
        )
    return Shards(path)


def stamp(name: str) -> str:
    """Changes when a folder of that name is made anew; empty when there is none."""
    place = _place()
    path = None if place is None else _inside(place, name)
    if path is None:
        return ""
    try:
        known = (path / FILE).stat()
    except OSError:  # it went just now
        return ""
    return f"{path} {known.st_mtime_ns} {known.st_size}"


def _place() -> Path | None:
    named = os.environ.get("NSPCA_SHARDS")
    return Path(named) if named else None


def _inside(place: Path, name: str) -> Path | None:
    path = place / name
    plain = name not in ("", ".", "..") and Path(name).name == name and not name.startswith(".")
    try:
        if not plain or path.is_symlink() or path.resolve().parent != place.resolve():
            return None
        return path if (path / FILE).is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None
