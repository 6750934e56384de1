"""SQLite database of the store: folder, schema, transactions, and the claim of the one server that uses it.

All writers share one connection and wait for each other. Readers have connections of their own and never
wait. `Runs` and `Uploads` derive from `Database` and contain the statements; `Store` is both.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import platformdirs

from nspca.errors import JobError

VERSION = 4
"""Version of `SCHEMA`, stored in the file as its ``user_version``."""
BUSY_SECONDS = 10.0  # maximum wait for another process that writes
CLAIM_SECONDS = 1.0  # maximum wait for another server that is just ending
SCHEMA = (
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, workspace TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL,
        function TEXT NOT NULL, parameters TEXT NOT NULL,
        state TEXT NOT NULL, event TEXT NOT NULL DEFAULT '',
        rows TEXT NOT NULL DEFAULT '[]', error TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL, started REAL, finished REAL,
        page TEXT NOT NULL DEFAULT '',
        name TEXT NOT NULL DEFAULT '', deleted REAL, UNIQUE (workspace, key))""",
    """CREATE TABLE results (key TEXT PRIMARY KEY, body BLOB NOT NULL,
        event TEXT NOT NULL, rows TEXT NOT NULL,
        started REAL, finished REAL NOT NULL, digest TEXT NOT NULL)""",
    """CREATE TABLE uploads (workspace TEXT NOT NULL, digest TEXT NOT NULL, meta TEXT NOT NULL,
        size INTEGER NOT NULL,
        created REAL NOT NULL, used REAL NOT NULL, PRIMARY KEY (workspace, digest))""",
    "CREATE TABLE files (digest TEXT PRIMARY KEY, body BLOB NOT NULL)",  # the bytes of uploads
    "CREATE TABLE shares (id TEXT PRIMARY KEY, run TEXT NOT NULL UNIQUE)",
    "CREATE TABLE workspaces (id TEXT PRIMARY KEY, created REAL NOT NULL)",
    "CREATE INDEX runs_key ON runs (key)",
)
"""Tables of a new file. Times are seconds since the epoch.

A result has the key of its computation, or, if partial, the id of its run. Columns `event`, `rows`,
`parameters` and `meta` are JSON.
"""


def default_home() -> Path:
    """Return the folder in NSPCA_HOME, or nspca's folder among the user's data."""
    return Path(os.environ.get("NSPCA_HOME") or platformdirs.user_data_path("nspca", appauthor=False))


class Database:
    """SQLite database ``runs.sqlite`` in the folder `home`, both readable by their owner only.

    Every method raises `JobError` when the folder or the file cannot be used.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home) if home is not None else default_home()
        self.path = self.home / "runs.sqlite"
        self._lock = threading.RLock()
        self._readers: list[sqlite3.Connection] = []  # open, and waiting for the next reader
        self._claim: sqlite3.Connection | None = None
        self._open = True
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise self._trouble(error) from error
        with suppress(OSError):  # a file system without modes
            self.path.chmod(0o600)
        self._file = self._identity()
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close all connections; later calls raise `JobError`."""
        with self._lock:
            self._open = False
            for db in (self._db, *self._readers):
                db.close()
            if self._claim is not None:
                self._claim.close()

    def claim(self) -> None:
        """Make this process the only server on the store until `close`, and interrupt unfinished runs.

        The claim is a lock on a file of its own, which the system drops when a process ends in any way. It
        raises `JobError` when another server has it.
        """
        lock = sqlite3.connect(
            self.home / "server.lock",
            timeout=CLAIM_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            lock.close()
            raise JobError(
                f"Another server uses the store {self.path}: stop it, or set NSPCA_HOME to another folder."
            ) from error
        self._claim = lock
        self.interrupt_runs()

    def interrupt_runs(self) -> None:
        """Interrupt all unfinished runs, at the start and at the end of a server."""
        self._change(
            "UPDATE runs SET state = 'interrupted', finished = ? WHERE state IN ('queued', 'running')",
            (time.time(),),
        )

    def missing(self) -> str:
        """Return an error message if the file was deleted or replaced since it was opened, otherwise "".

        SQLite would continue to write into the deleted file, whose content is lost when the server ends.
        """
        with suppress(OSError):
            if self._identity() == self._file:
                return ""
        return (
            f"The store {self.path} was deleted or replaced while this server runs, and nothing can be kept "
            "any more: put it back, and start the server again."
        )

    def _identity(self) -> tuple[int, int]:
        about = self.path.stat()
        return about.st_dev, about.st_ino

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        db.row_factory = sqlite3.Row
        return db

    def _trouble(self, error: Exception) -> JobError:
        return JobError(
            f"The store {self.path} cannot be used ({error}): make room or repair it, or set NSPCA_HOME to "
            "another folder."
        )

    def _prepare(self) -> None:
        """Set the journal mode, create the tables of a new file, and refuse another version."""
        with self._translated_errors():
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
        with self._writing() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:  # a new file
                for statement in SCHEMA:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
            elif version != VERSION:
                raise JobError(
                    f"The store {self.path} must be of version {VERSION}, got version {version}: use the "
                    "nspca that made it, or set NSPCA_HOME to another folder."
                )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction, committed as a whole or rolled back."""
        with self._lock, self._translated_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has already rolled back
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction, a consistent view of the store that does not wait for writers."""
        with self._translated_errors():
            if not self._open:
                raise sqlite3.ProgrammingError("it is closed")
            try:
                db = self._readers.pop()  # a new connection takes fifteen times as long as a short query
            except IndexError:
                db = self._connect()
            try:
                db.execute("BEGIN")
                yield db
            finally:
                db.rollback()
                self._readers.append(db)

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._reading() as db:
            return db.execute(query, values).fetchall()

    def _row(self, query: str, values: Sequence[Any]) -> sqlite3.Row | None:
        with self._reading() as db:
            return db.execute(query, values).fetchone()

    def _change(self, statement: str, values: Sequence[Any]) -> int:
        with self._writing() as db:
            return db.execute(statement, values).rowcount

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn errors of SQLite, and a missing file, into `JobError`."""
        if self._open and (gone := self.missing()):
            raise JobError(gone)
        try:
            yield
        except sqlite3.Error as error:
            raise self._trouble(error) from error
