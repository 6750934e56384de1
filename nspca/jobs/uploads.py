"""What people gave: kept once by content hash, found only through the workspace it was given in."""

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
NOTE_SECONDS = 3600.0  # between notes that an upload is used
NO_UPLOAD = "There is no such upload in this workspace: it may have grown too old; give the file again."


class Uploads(Database):
    """The uploads part of the store.

    Parameters
    ----------
    home : folder of the store
    quota : bytes one workspace may keep
    total : bytes all workspaces together may keep
    max_age : seconds after its last use that an upload is kept
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

    def put_upload(self, workspace: str, dataset_bytes: bytes, meta: dict[str, Any]) -> str:
        """Keep the bytes for this workspace; what is too old is deleted first, what fits nowhere is refused.

        Returns
        -------
        digest : str, the name to ask for them again
        """
        digest, size, now = hashlib.sha256(dataset_bytes).hexdigest(), len(dataset_bytes), time.time()
        with self._writing() as db:
            _drop(db, "used < ?", (now - self.max_age,))
            mine = _sum(
                db, "SELECT size FROM uploads WHERE workspace = ? AND digest != ?", (workspace, digest)
            )
            if mine + size > self.quota:
                raise JobError(
                    f"The uploads of one workspace may take {self.quota / MEGABYTE:g} MB together, this "
                    f"file would make it {(mine + size) / MEGABYTE:.4g} MB: delete an upload that is no "
                    "longer needed, or give a smaller file."
                )
            everyone = _sum(db, "SELECT MAX(size) FROM uploads WHERE digest != ? GROUP BY digest", (digest,))
            if everyone + size > self.total:
                raise JobError(
                    f"All uploads on this server may take {self.total / MEGABYTE:g} MB together, this file "
                    f"would make it {(everyone + size) / MEGABYTE:.4g} MB: ask whoever runs the server to "
                    "make room."
                )
            db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (digest, dataset_bytes))
            db.execute(
                """INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (workspace, digest) DO UPDATE SET meta = excluded.meta, used = excluded.used""",
                (workspace, digest, json.dumps(meta), size, now, now),
            )
        return digest

    def get_upload(self, workspace: str, digest: str) -> tuple[bytes, dict[str, Any]]:
        """The bytes and what was said about them.

        Raises
        ------
        JobError
            When this workspace has no such upload, even if another one has.
        """
        with self._reading() as db:
            row = db.execute(
                "SELECT meta, used, body FROM uploads JOIN blobs USING (digest) WHERE workspace = ? AND "
                "digest = ?",
                (workspace, digest),
            ).fetchone()
        if row is None:
            raise JobError(NO_UPLOAD)
        if time.time() - row["used"] > NOTE_SECONDS:
            with suppress(JobError), self._writing() as db:  # on a full disk it can still be read
                db.execute(
                    "UPDATE uploads SET used = ? WHERE workspace = ? AND digest = ?",
                    (time.time(), workspace, digest),
                )
        return row["body"], json.loads(row["meta"])

    def list_uploads(self, workspace: str) -> list[dict[str, Any]]:
        """Digest, size in bytes, creation time and meta of each upload, the newest first."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT digest, size, created, meta FROM uploads WHERE workspace = ? ORDER BY created DESC, "
                "digest",
                (workspace,),
            ).fetchall()
        return [{**dict(row), "meta": json.loads(row["meta"])} for row in rows]

    def delete_upload(self, workspace: str, digest: str) -> None:
        with self._writing() as db:
            _drop(db, "workspace = ? AND digest = ?", (workspace, digest))


def _drop(db: sqlite3.Connection, condition: str, values: tuple[Any, ...]) -> None:
    db.execute(f"DELETE FROM uploads WHERE {condition}", values)
    db.execute("DELETE FROM blobs WHERE digest NOT IN (SELECT digest FROM uploads)")


def _sum(db: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> int:
    return sum(row[0] for row in db.execute(query, values))
