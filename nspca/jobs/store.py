"""Everything that outlives the server: runs, results and uploads; files of uploads and arguments lie beside
the database.
"""

import secrets
import time

from nspca.jobs.runs import Runs
from nspca.jobs.uploads import Uploads


def new_workspace() -> str:
    """An id that nobody can guess; whoever has it sees the runs and uploads made under it."""
    return secrets.token_urlsafe(16)


class Store(Runs, Uploads):
    """One SQLite file for the runs and uploads of all workspaces, and a folder with the bytes of uploads; see
    `Runs` and `Uploads` for what it does.

    Results and uploads are opaque bytes, everything else is text and numbers: nothing in it is ever
    unpickled.
    """

    def issue_workspace(self) -> str:
        """A new workspace, known from now on."""
        workspace = new_workspace()
        with self._writing() as db:
            db.execute("INSERT INTO workspaces VALUES (?, ?)", (workspace, time.time()))
        return workspace

    def is_workspace(self, workspace: str) -> bool:
        """Whether it was issued here, or has something in it: nobody makes one up for others to work in."""
        places = ("workspaces WHERE id", "runs WHERE workspace", "uploads WHERE workspace")
        with self._reading() as db:
            return any(
                db.execute(f"SELECT 1 FROM {place} = ? LIMIT 1", (workspace,)).fetchone() for place in places
            )
