"""SQLite database of the store: folder, schema, transactions, and the registered server processes.

All writers share one connection and wait for each other. Readers have connections of their own and never
wait. `Runs` and `Uploads` derive from `Database` and contain the statements; `Store` is both.
"""

import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import platformdirs
import psutil

from nspca.errors import JobError
from nspca.jobs.upload_files import UploadFiles, is_backup

VERSION = 1
"""Version of `SCHEMA`, stored in the file as its ``user_version``."""
BUSY_SECONDS = 10.0  # maximum wait for another process that holds a lock
IDLE_READERS = 4  # read connections kept open for reuse
# Seconds; the start time of a process is derived from the clock, which may be set while it runs.
START_SLACK = 5.0

INTERRUPT = "UPDATE runs SET state = 'interrupted', finished = ? WHERE state IN ('queued', 'running')"
SCHEMA = (
    "CREATE TABLE servers (id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, started REAL NOT "
    "NULL)",
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, workspace TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL,
        function TEXT NOT NULL, parameters TEXT NOT NULL,
        state TEXT NOT NULL, event TEXT NOT NULL DEFAULT '',
        rows TEXT NOT NULL DEFAULT '[]', error TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL, started REAL, finished REAL, server TEXT NOT NULL,
        name TEXT NOT NULL DEFAULT '', deleted REAL, stop REAL, UNIQUE (workspace, key))""",
    """CREATE TABLE results (key TEXT PRIMARY KEY, body BLOB NOT NULL,
        event TEXT NOT NULL, rows TEXT NOT NULL,
        started REAL, finished REAL NOT NULL, digest TEXT NOT NULL)""",
    """CREATE TABLE uploads (workspace TEXT NOT NULL, digest TEXT NOT NULL, meta TEXT NOT NULL,
        size INTEGER NOT NULL,
        created REAL NOT NULL, used REAL NOT NULL, PRIMARY KEY (workspace, digest))""",
    "CREATE TABLE shares (id TEXT PRIMARY KEY, run TEXT NOT NULL UNIQUE)",
    "CREATE TABLE workspaces (id TEXT PRIMARY KEY, created REAL NOT NULL)",
    "CREATE INDEX runs_server ON runs (server, state)",
    "CREATE INDEX runs_key ON runs (key)",
)
"""Tables of a new file. Times are seconds since the epoch.

A server is a process with an engine. A result has the key of its computation, or, if partial, the id of its
run. Columns `event`, `rows`, `parameters` and `meta` are JSON.
"""


def default_home() -> Path:
    """Return the folder in NSPCA_HOME, or nspca's folder among the user's data."""
    return Path(os.environ.get("NSPCA_HOME") or platformdirs.user_data_path("nspca", appauthor=False))


class Database:
    """SQLite database that all threads of a process share, and that several processes may open.

    The folder `home` of the file ``runs.sqlite`` is created if necessary, and readable by its owner only.

    Raises
    ------
    JobError
        When the folder or the file cannot be used, or has another version.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home) if home is not None else default_home()
        self.path = self.home / "runs.sqlite"
        self._upload_files = UploadFiles(self.home / "uploads")
        self._lock = threading.RLock()
        self._readers: list[sqlite3.Connection] = []
        self._open = True
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise self._trouble(error) from error
        with suppress(OSError):  # a file system without modes
            self.path.chmod(0o600)
        about = self.path.stat()
        self._file = (about.st_dev, about.st_ino)
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise self._trouble(error) from error
        except JobError:
            self._db.close()
            raise

    def close(self) -> None:
        """Close all connections; later calls raise `JobError`."""
        with self._lock:
            self._open = False
            while self._readers:
                self._readers.pop().close()
            self._db.close()

    def _connect(self) -> sqlite3.Connection:
        """Open and return a connection."""
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        db.row_factory = sqlite3.Row
        return db

    def missing(self) -> str:
        """Return an error message if the file was deleted or replaced since it was opened, otherwise "".

        SQLite would continue to write into the deleted file, whose content is lost when the server ends.
        """
        with suppress(OSError):
            now = self.path.stat()
            if (now.st_dev, now.st_ino) == self._file:
                return ""
        return (
            f"The store {self.path} was deleted or replaced while this server runs, and nothing can be kept "
            "any more: put it back, and start the server again."
        )

    def damage(self) -> str:
        """Return a message about damage that SQLite finds in the whole file, otherwise "".

        The check takes a while and blocks no other access.
        """
        try:
            with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)) as db:
                found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            found = str(error)
        return "" if found == "ok" else str(self._trouble(sqlite3.DatabaseError(found)))

    def _trouble(self, error: Exception) -> JobError:
        """Return the error of a store that cannot be used."""
        return JobError(
            f"The store {self.path} cannot be used ({error}): make room or repair it, or set NSPCA_HOME to "
            "another folder."
        )

    def _prepare(self) -> None:
        """Set the journal mode, and create the tables of a new file.

        Raises
        ------
        JobError
            When the file is of another version, or is a backup.
        """
        deadline = time.monotonic() + BUSY_SECONDS
        while True:  # switching to WAL does not wait for other processes doing the same
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
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
            elif is_backup(db):
                raise JobError(
                    f"{self.path} must be a store, got a backup: put it back with `python -m nspca restore`."
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
            db = self._reader()
            try:
                db.execute("BEGIN")
                yield db
            finally:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                if self._open and len(self._readers) < IDLE_READERS:
                    self._readers.append(db)
                else:
                    db.close()

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        with self._reading() as db:
            return db.execute(query, values).fetchall()

    def _row(self, query: str, values: Sequence[Any]) -> sqlite3.Row | None:
        """Return the first row of a query, None if there is none."""
        with self._reading() as db:
            return db.execute(query, values).fetchone()

    def _change(self, statement: str, values: Sequence[Any]) -> int:
        """Execute a statement that writes, and return how many rows it changed."""
        with self._writing() as db:
            return db.execute(statement, values).rowcount

    def _reader(self) -> sqlite3.Connection:
        """Return an idle read connection, or a new one."""
        if not self._open:
            raise sqlite3.ProgrammingError("it is closed")
        try:
            return self._readers.pop()
        except IndexError:
            db = self._connect()
            db.execute("PRAGMA query_only = 1")
            return db

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn errors of SQLite, and a missing file, into `JobError`."""
        if self._open and (gone := self.missing()):
            raise JobError(gone)
        try:
            yield
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def register_server(self) -> str:
        """Register this process as an owner of runs, and return the new id of this server.

        Unfinished runs of dead processes are interrupted before.
        """
        server = secrets.token_hex(8)
        self.interrupt_orphans()
        process = socket.gethostname(), os.getpid(), psutil.Process().create_time()
        self._change("INSERT INTO servers VALUES (?, ?, ?, ?)", (server, *process))
        return server

    def interrupt_orphans(self, host: str = "") -> None:
        """Interrupt the unfinished runs of servers that have ended, and remove these servers.

        Parameters
        ----------
        host : str
            Check servers with this host name only. Without it, every server with another host name counts as
            ended. A running server checks its own host name only, because a container that is being replaced
            must not interrupt the runs of its successor.
        """
        rows = self._rows("SELECT * FROM servers")
        checked = [row for row in rows if host in ("", row["host"])]
        gone = [row["id"] for row in checked if not is_alive(row["host"], row["pid"], row["started"])]
        if gone:
            with self._writing() as db:
                for server in gone:
                    _interrupt(db, server)

    def is_shared(self, server: str) -> bool:
        """Tell whether other servers are registered in this store, alive or not."""
        return self._row("SELECT 1 FROM servers WHERE id != ?", (server,)) is not None

    def leave_server(self, server: str) -> None:
        """Interrupt the unfinished runs of `server` and remove it."""
        with self._writing() as db:
            _interrupt(db, server)


def _interrupt(db: sqlite3.Connection, server: str) -> None:
    """Interrupt the unfinished runs of a server and remove it, inside a transaction."""
    db.execute(f"{INTERRUPT} AND server = ?", (time.time(), server))
    db.execute("DELETE FROM servers WHERE id = ?", (server,))


def interrupt_all(db: sqlite3.Connection) -> None:
    """Interrupt all unfinished runs of a backup, because no server works on the copy."""
    db.execute(INTERRUPT, (time.time(),))
    db.execute("DELETE FROM servers")


def is_alive(host: str, pid: int, started: float) -> bool:
    """Tell whether the server process that was registered with this host, pid and start time still runs.

    Another host name is a replaced container or machine, because WAL files need one host.
    """
    if host != socket.gethostname():
        return False
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < START_SLACK and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
