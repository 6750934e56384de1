"""Store of uploads, kept once by content hash and found only through the workspace of the upload.

The page Data stores, lists and deletes uploads. Opening a spec about an upload reads it.
"""

import hashlib
import json
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from nspca.errors import JobError
from nspca.jobs.database import Database
from nspca.jobs.runs import SHARE_AT_ONCE

MEGABYTE = 1_000_000
NOTE_SECONDS = 3600.0  # between updates of the time of last use
NO_UPLOAD = "There is no such upload in this workspace: it may have grown too old; give the file again."
DAMAGED = "The file of this upload was damaged or deleted on the disk since: give it again."


class Uploads(Database):
    """Uploads in the store.

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
        self._tidy_uploads()

    def put_upload(self, workspace: str, dataset_bytes: bytes, meta: dict[str, Any]) -> str:
        """Store an upload in a workspace, after deleting uploads that are too old; refuse it without room.

        If more than a quarter of all uploads are too old, a clock may be wrong. Only as many as needed are
        then deleted.

        Parameters
        ----------
        workspace : owner of the upload
        dataset_bytes : content of the file
        meta : JSON values about the file, such as its name

        Returns
        -------
        digest : str
            Hash of the content, by which the upload is read.
        """
        digest, size, now = hashlib.sha256(dataset_bytes).hexdigest(), len(dataset_bytes), time.time()
        with self._reading() as db:  # refuse before writing the file
            self._check_room(db, workspace, digest, size)
        try:
            with self._upload_files.draft(dataset_bytes) as draft, self._writing() as db:
                self._drop_old(db, workspace, digest, size)
                self._check_room(db, workspace, digest, size)  # another upload may have taken the room
                db.execute(
                    """INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, digest)
                    DO UPDATE SET meta = excluded.meta, used = excluded.used""",
                    (workspace, digest, json.dumps(meta), size, now, now),
                )
                self._upload_files.settle(draft, digest)
        finally:
            self._tidy_uploads()
        return digest

    def get_upload(self, workspace: str, digest: str) -> tuple[bytes, dict[str, Any]]:
        """Return the bytes and the metadata of an upload.

        Raises
        ------
        JobError
            When this workspace has no such upload, even if another one has; and when its file is damaged.
        """
        about = self.about_upload(workspace, digest)
        body = self._upload_files.read(digest)
        if body is None:
            raise JobError(DAMAGED)
        return body, about

    def about_upload(self, workspace: str, digest: str) -> dict[str, Any]:
        """Return the metadata of an upload, and record its use.

        Raises
        ------
        JobError
            When this workspace has no such upload.
        """
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
        """Delete an upload of a workspace, and its file unless another workspace has it."""
        self._change("DELETE FROM uploads WHERE workspace = ? AND digest = ?", (workspace, digest))
        self._tidy_uploads()

    def _drop_old(self, db: sqlite3.Connection, workspace: str, digest: str, size: int) -> None:
        """Delete uploads that are too old; if these are many, only the oldest until the new one fits."""
        (count,) = db.execute("SELECT count(*) FROM uploads").fetchone()
        old = db.execute(
            "SELECT workspace, digest FROM uploads WHERE used < ? ORDER BY used",
            (time.time() - self.max_age,),
        ).fetchall()
        for row in old:
            if (
                len(old) > SHARE_AT_ONCE * count
                and self._lacks_room(db, workspace, digest, size, 0.0) is None
            ):
                return
            db.execute("DELETE FROM uploads WHERE workspace = ? AND digest = ?", tuple(row))

    def _check_room(self, db: sqlite3.Connection, workspace: str, digest: str, size: int) -> None:
        """Refuse an upload that does not fit beside the uploads that are not too old."""
        lacking = self._lacks_room(db, workspace, digest, size, time.time() - self.max_age)
        if lacking is not None:
            raise lacking

    def _lacks_room(
        self, db: sqlite3.Connection, workspace: str, digest: str, size: int, since: float
    ) -> JobError | None:
        """Return an error if an upload does not fit beside the uploads used after `since`, otherwise None."""
        others, values = "digest != ? AND used >= ?", (digest, since)
        mine = _sum(db, f"SELECT size FROM uploads WHERE {others} AND workspace = ?", (*values, workspace))
        if mine + size > self.quota:
            return JobError(
                f"The uploads of one workspace may take {self.quota / MEGABYTE:g} MB together, this file "
                f"would make it {(mine + size) / MEGABYTE:.4g} MB: delete an upload that is no longer "
                "needed, or give a smaller file."
            )
        everyone = _sum(db, f"SELECT MAX(size) FROM uploads WHERE {others} GROUP BY digest", values)
        if everyone + size > self.total:
            return JobError(
                f"All uploads on this server may take {self.total / MEGABYTE:g} MB together, this file "
                f"would make it {(everyone + size) / MEGABYTE:.4g} MB: ask whoever runs the server to make "
                "room."
            )
        return None

    def _tidy_uploads(self) -> None:
        """Delete files that no row names; errors of the store are ignored."""
        with suppress(JobError), self._writing() as db:
            self._upload_files.tidy({row[0] for row in db.execute("SELECT digest FROM uploads").fetchall()})


def _sum(db: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> int:
    """Return the sum of the first column of a query."""
    return sum(row[0] for row in db.execute(query, values).fetchall())
