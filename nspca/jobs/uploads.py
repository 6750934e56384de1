"""Store of uploads, kept once by content hash and found only through the workspace of the upload.

The bytes lie in files beside the database, each named by its hash, so that a large upload blocks no other
writer. A file gets its name in the transaction that adds its row, and is deleted in one that finds no row.
So whenever a process ends, each row has its file, and a file without a row is deleted later.
"""

import hashlib
import json
import os
import sqlite3
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from nspca.errors import JobError
from nspca.jobs.database import Database

MEGABYTE = 1_000_000
NOTE_SECONDS = 3600.0  # between updates of the time of last use
DRAFT = ".part"  # suffix of a file that has no name yet
DRAFT_SECONDS = 3600.0  # age after which an unnamed file counts as left by a killed process
NO_UPLOAD = "There is no such upload in this workspace: it may have grown too old; give the file again."
DAMAGED = "The file of this upload was damaged or deleted on the disk since: give it again."


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
        self._files = self.home / "uploads"
        self._tidy_uploads()

    def put_upload(self, workspace: str, dataset_bytes: bytes, meta: dict[str, Any]) -> str:
        """Store an upload with JSON values about it, and return the hash by which it is read.

        Uploads that are too old are deleted before. Without room a `JobError` says so.
        """
        digest, size, now = hashlib.sha256(dataset_bytes).hexdigest(), len(dataset_bytes), time.time()
        with self._reading() as db:  # refuse before writing the file
            self._check_room(db, workspace, digest, size)
        draft = Path()
        try:
            self._files.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(dir=self._files, suffix=DRAFT, delete=False) as file:
                draft = Path(file.name)
                file.write(dataset_bytes)
                file.flush()
                os.fsync(file.fileno())  # so that a power cut cannot leave a shorter file under its name
            with self._writing() as db:
                db.execute("DELETE FROM uploads WHERE used < ?", (now - self.max_age,))
                self._check_room(db, workspace, digest, size)  # another upload may have taken the room
                db.execute(
                    """INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, digest)
                    DO UPDATE SET meta = excluded.meta, used = excluded.used""",
                    (workspace, digest, json.dumps(meta), size, now, now),
                )
                os.replace(draft, self._files / digest)
        except OSError as error:
            raise JobError(
                f"The file cannot be kept in {self._files} ({error}): make room there, or set NSPCA_HOME to "
                "another folder."
            ) from error
        finally:
            with suppress(OSError):
                draft.unlink()
            self._tidy_uploads()
        return digest

    def get_upload(self, workspace: str, digest: str) -> tuple[bytes, dict[str, Any]]:
        """Return the bytes and the metadata of an upload.

        It raises `JobError` when this workspace has none, even if another one has, or the file is damaged.
        """
        about = self.about_upload(workspace, digest)
        try:
            body = (self._files / digest).read_bytes()
        except OSError as error:
            raise JobError(DAMAGED) from error
        if hashlib.sha256(body).hexdigest() != digest:
            raise JobError(DAMAGED)
        return body, about

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
        """Delete an upload of a workspace, and its file unless another workspace has it."""
        self._change("DELETE FROM uploads WHERE workspace = ? AND digest = ?", (workspace, digest))
        self._tidy_uploads()

    def _check_room(self, db: sqlite3.Connection, workspace: str, digest: str, size: int) -> None:
        """Refuse an upload that does not fit beside the uploads that are not too old."""
        others, values = "digest != ? AND used >= ?", (digest, time.time() - self.max_age)
        mine = _sum(db, f"SELECT size FROM uploads WHERE {others} AND workspace = ?", (*values, workspace))
        if mine + size > self.quota:
            raise JobError(
                f"The uploads of one workspace may take {self.quota / MEGABYTE:g} MB together, this file "
                f"would make it {(mine + size) / MEGABYTE:.4g} MB: delete an upload that is no longer "
                "needed, or give a smaller file."
            )
        everyone = _sum(db, f"SELECT MAX(size) FROM uploads WHERE {others} GROUP BY digest", values)
        if everyone + size > self.total:
            raise JobError(
                f"All uploads on this server may take {self.total / MEGABYTE:g} MB together, this file "
                f"would make it {(everyone + size) / MEGABYTE:.4g} MB: ask whoever runs the server to make "
                "room."
            )

    def _tidy_uploads(self) -> None:
        """Delete files that no row names, and abandoned drafts; errors are left to the next call."""
        with suppress(JobError, OSError), self._writing() as db:
            named = {row[0] for row in db.execute("SELECT digest FROM uploads")}
            for path in [*self._files.iterdir()]:
                with suppress(OSError):  # on Windows an open file cannot be deleted
                    old = time.time() - path.stat().st_mtime > DRAFT_SECONDS
                    if old if path.suffix == DRAFT else path.name not in named:
                        path.unlink()


def _sum(db: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> int:
    return sum(row[0] for row in db.execute(query, values).fetchall())
