"""Store of everything that outlives the server: runs, results and uploads, and its backup.

The engine opens one store, and pages reach it as ``engine().store``.
"""

import secrets
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from nspca.errors import JobError
from nspca.jobs.database import default_home
from nspca.jobs.runs import Runs
from nspca.jobs.uploads import Uploads


def new_workspace() -> str:
    """Return an id that nobody can guess; anybody who has it sees the runs and uploads made under it."""
    return secrets.token_urlsafe(16)


class Store(Runs, Uploads):
    """Store of the runs and uploads of all workspaces: one SQLite file.

    Results and uploads are opaque bytes, and everything else is text and numbers. Nothing is unpickled. See
    `Runs` and `Uploads` for the methods.
    """

    def issue_workspace(self) -> str:
        """Create and register a new workspace, and return its id."""
        workspace = new_workspace()
        self._change("INSERT INTO workspaces VALUES (?, ?)", (workspace, time.time()))
        return workspace

    def is_workspace(self, workspace: str) -> bool:
        """Tell whether a workspace was issued by this store, or has runs or uploads; invented ids are not."""
        places = ("workspaces WHERE id", "runs WHERE workspace", "uploads WHERE workspace")
        return any(self._row(f"SELECT 1 FROM {place} = ? LIMIT 1", (workspace,)) for place in places)


def backup(folder: Path | str, home: Path | str | None = None) -> int:
    """Copy a store, also one in use, to a new folder that is a store itself, and return its size in bytes.

    The copy is as of one moment. It raises `JobError` when there is no store, the folder exists already, or
    it cannot be written.
    """
    folder, home = Path(folder), Path(home or default_home())
    if not (home / "runs.sqlite").is_file():
        raise JobError(f"There is no store {home / 'runs.sqlite'} to copy: set NSPCA_HOME to its folder.")
    copy = folder / "runs.sqlite"
    try:
        folder.mkdir(mode=0o700)
        with closing(sqlite3.connect(home / "runs.sqlite")) as old, closing(sqlite3.connect(copy)) as new:
            old.backup(new)
    except (OSError, sqlite3.Error) as error:
        raise JobError(
            f"The backup {folder} could not be written ({error}): make room, or name another folder."
        ) from error
    return copy.stat().st_size
