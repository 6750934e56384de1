"""Store of everything that outlives the server: runs, results and uploads, and its backup.

An upload is kept once by content hash and found only through its workspace. The engine opens one store, and
pages reach it as ``engine().store``.
"""

import hashlib
import json
import secrets
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from nspca.errors import JobError
from nspca.jobs.database import Database, default_home
from nspca.jobs.runs import Runs

MEGABYTE = 1_000_000
NOTE_SECONDS = 3600.0  # between updates of the time of last use
NO_UPLOAD = "There is no such upload in this workspace: it may have grown too old; give the file again."
DAMAGED = "The bytes of this upload were damaged on the disk since: give the file again."
UNUSED = "DELETE FROM files WHERE digest NOT IN (SELECT digest FROM uploads)"


class Uploads(Database):
    """Uploads in the store.

    One workspace may keep `quota` bytes, all together `total`, and each for `max_age` seconds after its last
    use.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        quota: int = 500 * MEGABYTE,
        total: int = 5000 * MEGABYTE,
        max_age: float = 30 * 86400.0,
    ) -> None:
        super().__init__(home)
        self.quota, self.total, self.max_age = quota, total, max_age

    def put_upload(self, workspace: str, body: bytes, meta: dict[str, Any]) -> str:
        """Store an upload with JSON values about it, and return the hash by which it is read.

        Uploads that are too old are deleted before. Without room a `JobError` says so.
        """
        digest, size, now = hashlib.sha256(body).hexdigest(), len(body), time.time()
        with self._writing() as db:
            db.execute("DELETE FROM uploads WHERE used < ?", (now - self.max_age,))
            self._check_room(db, workspace, digest, size)
            db.execute(
                """INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, digest)
                DO UPDATE SET meta = excluded.meta, used = excluded.used""",
                (workspace, digest, json.dumps(meta), size, now, now),
            )
            db.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", (digest, body))
            db.execute(UNUSED)
        return digest

    def get_upload(self, workspace: str, digest: str) -> tuple[bytes, dict[str, Any]]:
        """Return the bytes and the metadata of an upload.

        It raises `JobError` when this workspace has none, even if another one has, or the bytes are damaged.
        """
        about = self.about_upload(workspace, digest)
        row = self._row("SELECT body FROM files WHERE digest = ?", (digest,))
        if row is None or hashlib.sha256(row["body"]).hexdigest() != digest:
            raise JobError(DAMAGED)
        return row["body"], about

    def about_upload(self, workspace: str, digest: str) -> dict[str, Any]:
        """Return the metadata of an upload of this workspace, and record its use."""
        of_upload = "WHERE workspace = ? AND digest = ?"
        row = self._row(f"SELECT meta, used FROM uploads {of_upload}", (workspace, digest))
        if row is None:
            raise JobError(NO_UPLOAD)
        if time.time() - row["used"] > NOTE_SECONDS:
            with suppress(JobError):  # a full disk must not prevent reading
                self._change(f"UPDATE uploads SET used = ? {of_upload}", (time.time(), workspace, digest))
        return json.loads(row["meta"])

    def list_uploads(self, workspace: str) -> list[dict[str, Any]]:
        """Return digest, size in bytes, creation time and metadata of each upload, the newest first."""
        rows = self._rows(
            "SELECT digest, size, created, meta FROM uploads WHERE workspace = ? ORDER BY created DESC, "
            "digest",
            (workspace,),
        )
        return [{**dict(row), "meta": json.loads(row["meta"])} for row in rows]

    def delete_upload(self, workspace: str, digest: str) -> None:
        """Delete an upload of a workspace, and its bytes unless another workspace has them."""
        with self._writing() as db:
            db.execute("DELETE FROM uploads WHERE workspace = ? AND digest = ?", (workspace, digest))
            db.execute(UNUSED)

    def _check_room(self, db: sqlite3.Connection, workspace: str, digest: str, size: int) -> None:
        mine, everyone = (
            size + sum(row[0] for row in db.execute(query, values))
            for query, values in (
                ("SELECT size FROM uploads WHERE digest != ? AND workspace = ?", (digest, workspace)),
                ("SELECT MAX(size) FROM uploads WHERE digest != ? GROUP BY digest", (digest,)),
            )
        )
        if mine > self.quota:
            raise JobError(
                f"The uploads of one workspace may take {self.quota / MEGABYTE:g} MB together, this file "
                f"would make it {mine / MEGABYTE:.4g} MB: delete an upload that is no longer needed, or give "
                "a smaller file."
            )
        if everyone > self.total:
            raise JobError(
                f"All uploads on this server may take {self.total / MEGABYTE:g} MB together, this file "
                f"would make it {everyone / MEGABYTE:.4g} MB: ask whoever runs the server to make room."
            )


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
