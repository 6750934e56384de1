"""Everything that outlives the server: runs, results, uploads, and the files of arguments beside them."""

import secrets

from nspca.jobs.runs import Runs
from nspca.jobs.uploads import Uploads


def new_workspace() -> str:
    """An id that nobody can guess; whoever has it sees the runs and uploads made under it."""
    return secrets.token_urlsafe(16)


class Store(Runs, Uploads):
    """One SQLite file for the runs and uploads of all workspaces; see `Runs` and `Uploads` for what it does.

    Results and uploads are opaque bytes, everything else is text and numbers: nothing in it is ever
    unpickled.
    """
