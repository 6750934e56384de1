"""Store of uploads, kept once by content hash and found only through the workspace of the upload."""

import hashlib
import json
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from nspca.errors import JobError
from nspca.jobs.database import Database

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
