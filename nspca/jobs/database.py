"""The one SQLite file: its place, its schema, its transactions, and which server processes are alive."""

import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import platformdirs
import psutil

from nspca.errors import JobError

VERSION = 4
BUSY_SECONDS = 10.0
START_SLACK = (
    5.0  # seconds; the start time of a process is derived from the clock, which may be set while it runs
)

INDICES = ("CREATE INDEX runs_server ON runs (server, state)", "CREATE INDEX runs_key ON runs (key)")
WORKSPACES = "CREATE TABLE workspaces (id TEXT PRIMARY KEY, created REAL NOT NULL)"
SHARES = "CREATE TABLE shares (id TEXT PRIMARY KEY, run TEXT NOT NULL UNIQUE)"
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
        started REAL, finished REAL NOT NULL, digest TEXT NOT NULL DEFAULT '')""",
    """CREATE TABLE uploads (workspace TEXT NOT NULL, digest TEXT NOT NULL, meta TEXT NOT NULL,
        size INTEGER NOT NULL,
        created REAL NOT NULL, used REAL NOT NULL, PRIMARY KEY (workspace, digest))""",
    "CREATE TABLE blobs (digest TEXT PRIMARY KEY, body BLOB NOT NULL)",
    SHARES,
    WORKSPACES,
    *INDICES,
)


def default_home() -> Path:
    """The folder in NSPCA_HOME, or nspca's folder among the user's data."""
    return Path(os.environ.get("NSPCA_HOME") or platformdirs.user_data_path("nspca", appauthor=False))


class Database:
    """One connection used by all threads in turn; several processes may open the same file.

    Parameters
    ----------
    home : folder of the file ``runs.sqlite``, made when missing and readable by its owner only

    Raises
    ------
    JobError
        When the folder or the file cannot be used, or is of a newer version.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home) if home is not None else default_home()
        self.path = self.home / "runs.sqlite"
        self._lock = threading.RLock()
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._trouble(error) from error
        with suppress(OSError):  # a file system without modes
            self.path.chmod(0o600)
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise self._trouble(error) from error
        except JobError:
            self._db.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def damage(self) -> str:
        """What SQLite finds wrong in the whole file, in a sentence; empty when nothing. Takes a while, and
        holds nobody up.
        """
        try:
            with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)) as db:
                found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            found = str(error)
        return "" if found == "ok" else str(self._trouble(sqlite3.DatabaseError(found)))

    def _trouble(self, error: Exception) -> JobError:
        return JobError(
            f"The store {self.path} cannot be used ({error}): make room or repair it, or set NSPCA_HOME to "
            "another folder."
        )

    def _prepare(self) -> None:
        self._db.row_factory = sqlite3.Row
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
            if version > VERSION:
                raise JobError(
                    f"The store {self.path} has version {version}, this program reads up to {VERSION}: "
                    "update nspca, or set NSPCA_HOME to another folder."
                )
            if version == 0:
                for statement in SCHEMA:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
            if version == 1:  # a name of its own for a run, and a moment in which it was deleted
                db.execute("ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT ''")
                db.execute("ALTER TABLE runs ADD COLUMN deleted REAL")
            if version in (1, 2):
                db.execute(SHARES)
            if version in (1, 2, 3):  # what tells a damaged result, and a wish that another server ends a run
                db.execute("ALTER TABLE results ADD COLUMN digest TEXT NOT NULL DEFAULT ''")
                db.execute("ALTER TABLE runs ADD COLUMN stop REAL")
                for statement in (WORKSPACES, *INDICES):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has already rolled back
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._db
            except sqlite3.Error as error:
                raise self._trouble(error) from error

    def register_server(self) -> str:
        """Name this process as the owner of runs, and mark what dead ones left unfinished as interrupted."""
        server = secrets.token_hex(8)
        self.bury()
        with self._writing() as db:
            db.execute(
                "INSERT INTO servers VALUES (?, ?, ?, ?)",
                (server, socket.gethostname(), os.getpid(), psutil.Process().create_time()),
            )
        return server

    def bury(self, only_of: str = "") -> None:
        """What servers that are gone have not finished is interrupted.

        A server that starts takes all of another host name for gone, and later `only_of` its own: a container
        that is being replaced does not bury the one that replaces it.
        """
        with self._reading() as db:
            rows = db.execute("SELECT * FROM servers").fetchall()
        asked = [row for row in rows if only_of in ("", row["host"])]
        gone = [row["id"] for row in asked if not is_alive(row["host"], row["pid"], row["started"])]
        if gone:
            with self._writing() as db:
                for server in gone:
                    _interrupt(db, server)

    def is_shared(self, server: str) -> bool:
        """Whether other servers use this store, or did when they died."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM servers WHERE id != ?", (server,)).fetchone() is not None

    def leave_server(self, server: str) -> None:
        """What `server` has not finished is interrupted."""
        with self._writing() as db:
            _interrupt(db, server)


def _interrupt(db: sqlite3.Connection, server: str) -> None:
    db.execute(
        "UPDATE runs SET state = 'interrupted', finished = ? WHERE server = ? AND state IN ('queued', "
        "'running')",
        (time.time(), server),
    )
    db.execute("DELETE FROM servers WHERE id = ?", (server,))


def is_alive(host: str, pid: int, started: float) -> bool:
    """Whether that very process still runs; another host name is a container or machine that was replaced, as
    WAL files have one host.
    """
    if host != socket.gethostname():
        return False
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < START_SLACK and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
