"""Folders of shards that the dashboard may open: those in the folder named by ``NSPCA_SHARDS``.

The page Data lists them with `served`. Specs open one by its name with `opened`.
"""

import os
from pathlib import Path

from nspca.errors import InvalidData
from nspca.shards.reader import META, Shards

MOST = 200
"""Maximum number of folders listed."""


def served() -> list[str]:
    """Return the names of the folders, in order; none when the setting or its folder is missing."""
    try:
        names = os.listdir(os.environ["NSPCA_SHARDS"])
    except (OSError, KeyError):
        return []
    return [name for name in sorted(names) if _path(name) is not None][:MOST]


def opened(name: str) -> Shards:
    """Open the folder of shards with this name. Links, hidden folders and other places are refused."""
    path = _path(name)
    if path is None:
        raise InvalidData(
            "There is no folder of shards of this name on the server: choose one that is listed."
        )
    return Shards(path)


def stamp(name: str) -> str:
    """Return a text for caches that changes when the folder of this name is written again; empty for none."""
    path = _path(name)
    try:
        return "" if path is None else f"{path} {(path / META).stat().st_mtime_ns}"
    except OSError:  # it was deleted meanwhile
        return ""


def _path(name: str) -> Path | None:
    """Return the path of a folder of shards by its name; None for links and for paths that lead elsewhere."""
    place = Path(os.environ.get("NSPCA_SHARDS", ""))
    path = place / name
    try:
        is_plain = Path(name).name == name and not name.startswith(".") and place != Path()
        if not is_plain or path.is_symlink() or path.resolve().parent != place.resolve():
            return None
        return path if (path / META).is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None
