"""Files with the bytes of uploads, beside the database, each named by the hash of its content.

Files are used instead of database rows, so that writing a large upload blocks no other writer. Database rows
say which files are valid. A file gets its name inside the transaction that adds its row, and is deleted
inside a transaction in which no row refers to it. So whenever a process ends, each row has its file, and a
file without a row is deleted later.
"""

import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nspca.errors import JobError

DRAFT = ".part"  # suffix of a file that has no name yet
DRAFT_SECONDS = 3600.0  # age after which an unnamed file counts as left by a killed process


class UploadFiles:
    """Folder of uploaded files, created with the first one and readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def draft(self, body: bytes) -> Iterator[Path]:
        """Write bytes to an unnamed file, deleted at the end of the context unless `settle` named it.

        Raises
        ------
        JobError
            When the bytes cannot be written.
        """
        draft = ""
        try:
            try:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                with tempfile.NamedTemporaryFile(dir=self.folder, suffix=DRAFT, delete=False) as file:
                    draft = file.name
                    file.write(body)
                    file.flush()
                    os.fsync(file.fileno())  # so that a power cut cannot leave a shorter file under its name
            except OSError as error:
                raise self._trouble(error) from error
            yield Path(draft)
        finally:
            if draft:
                Path(draft).unlink(missing_ok=True)

    def settle(self, draft: Path, digest: str) -> None:
        """Give a draft its name, inside the transaction that needs it."""
        try:
            os.replace(draft, self.folder / digest)
        except OSError as error:
            raise self._trouble(error) from error

    def read(self, digest: str) -> bytes | None:
        """Return the bytes stored under a digest; None when the file is missing or has changed."""
        try:
            body = (self.folder / digest).read_bytes()
        except OSError:
            return None
        return body if hashlib.sha256(body).hexdigest() == digest else None

    def tidy(self, wanted: set[str]) -> None:
        """Delete every file that is not in `wanted`, and abandoned drafts, inside a transaction."""
        with suppress(OSError):
            for path in [*self.folder.iterdir()]:
                with suppress(OSError):  # on Windows an open file cannot be deleted; the next call does
                    old = time.time() - path.stat().st_mtime > DRAFT_SECONDS
                    if old if path.suffix == DRAFT else path.name not in wanted:
                        path.unlink()

    def move_out(self, db: sqlite3.Connection) -> None:
        """Write the bytes in a backup into files, and drop them from the backup, inside a transaction."""
        for (digest,) in db.execute("SELECT digest FROM blobs").fetchall():
            (body,) = db.execute("SELECT body FROM blobs WHERE digest = ?", (digest,)).fetchone()
            with self.draft(body) as draft:
                self.settle(draft, digest)
        db.execute("DROP TABLE blobs")

    def copy_in(self, db: sqlite3.Connection) -> None:
        """Copy the bytes of files into the database of a backup, as `move_out` expects them.

        Uploads deleted meanwhile are left out.
        """
        db.execute("CREATE TABLE blobs (digest TEXT PRIMARY KEY, body BLOB NOT NULL)")
        for (digest,) in db.execute("SELECT DISTINCT digest FROM uploads").fetchall():
            body = self.read(digest)
            if body is None:
                db.execute("DELETE FROM uploads WHERE digest = ?", (digest,))
            else:
                db.execute("INSERT INTO blobs VALUES (?, ?)", (digest, body))

    def _trouble(self, error: OSError) -> JobError:
        """Return the error of a folder that cannot be written."""
        return JobError(
            f"The file cannot be kept in {self.folder} ({error}): make room there, or set NSPCA_HOME to "
            "another folder."
        )


def is_backup(db: sqlite3.Connection) -> bool:
    """Tell whether a database is a backup, which has the bytes of uploads inside."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'blobs'").fetchone() is not None
