"""Store of everything that outlives the server: runs, results and uploads.

Files of uploads and of arguments lie beside the database. The engine opens one store, and pages reach it as
``engine().store``.
"""

import secrets
import time

from nspca.jobs.runs import Runs
from nspca.jobs.uploads import Uploads


def new_workspace() -> str:
    """Return an id that nobody can guess; anybody who has it sees the runs and uploads made under it."""
    return secrets.token_urlsafe(16)


class Store(Runs, Uploads):
    """Store of the runs and uploads of all workspaces: one SQLite file, and a folder of upload files.

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
