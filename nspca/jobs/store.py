"""Store of everything that outlives the server: runs, results and uploads.

Files of uploads and of arguments lie beside the database.
"""

import secrets
import time

from nspca.jobs.runs import Runs
from nspca.jobs.uploads import Uploads


def new_workspace() -> str:
    """Return an id that nobody can guess; anybody who has it sees the runs and uploads made under it."""
    return secrets.token_urlsafe(16)


class Store(Runs, Uploads):
    """Store of the runs and uploads of all workspaces in one SQLite file, with a folder of upload files; see
    `Runs` and `Uploads`.

    Results and uploads are opaque bytes, everything else is text and numbers: nothing in it is ever
    unpickled.
    """

    def issue_workspace(self) -> str:
        """Create and register a new workspace, and return its id."""
        workspace = new_workspace()
        with self._writing() as db:
            db.execute("INSERT INTO workspaces VALUES (?, ?)", (workspace, time.time()))
        return workspace

    def is_workspace(self, workspace: str) -> bool:
        """Tell whether a workspace was issued here or has runs or uploads, so that invented ids
        are refused.
        """
        places = ("workspaces WHERE id", "runs WHERE workspace", "uploads WHERE workspace")
        with self._reading() as db:
            return any(
                db.execute(f"SELECT 1 FROM {place} = ? LIMIT 1", (workspace,)).fetchone() for place in places
            )
