"""Folders with data: samples of the package, the user's cache, and originals named by ``NSPCA_DATA``."""

import os
import sys
import tempfile
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def sample_folder() -> Path:
    """Return the folder of the small samples: inside an installed package, beside it in a source tree."""
    inside = _PACKAGE / "_sample_data"
    return inside if inside.is_dir() else _PACKAGE.parent / "sample_data"


def cache_folder() -> Path:
    """Return the folder for fetched and adopted samples: in ``NSPCA_HOME`` if set, else the user's cache."""
    home = os.environ.get("NSPCA_HOME")
    caches = {"darwin": "~/Library/Caches", "win32": "~/AppData/Local"}.get(sys.platform, "~/.cache")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or caches).expanduser()
    return (Path(home) if home else cache / "nspca") / "samples"


def originals_folder() -> Path | None:
    """Return the folder of original data sets that ``NSPCA_DATA`` names, or None."""
    named = os.environ.get("NSPCA_DATA")
    return Path(named) if named else None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file in one step: another process never sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, path)
    except BaseException:
        # The exception goes on; only the half-written file must not stay behind.
        Path(temporary).unlink(missing_ok=True)
        raise
