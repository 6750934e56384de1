"""Store of runs and results. A run belongs to a workspace; a result belongs to a key and serves all its runs.

The key is the hash of a computation. The partial result of a cancelled run is stored under the id of the run,
since it does not answer the key. The engine writes runs; pages list, rename, delete and share them.
"""

import hashlib
import json
import secrets
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import fields

from nspca.errors import JobError
from nspca.jobs.database import Database
from nspca.jobs.job import UNFINISHED, Run
from nspca.progress import Event

COLUMNS = ", ".join(field.name for field in fields(Run) if field.name != "place")
OUTLINE = COLUMNS.replace("event, rows", "'' AS event, '[]' AS rows")  # without possibly long progress
UNDO_SECONDS = 3600.0  # period in which a deleted run can be restored
NO_SHARE = (
    "This link leads to no run: whoever shared it has deleted it, or the link is not whole; ask for it again."
)
ONCE_MORE = "The run of this link is computed once more: open the link again when that is done."
STOPPED = "The run of this link was begun once more and stopped: ask whoever shared it to run it again."
DAMAGED = "What this run returned was damaged on the disk since, and has been deleted: run it again."
EXPIRED = "What this run returned was old or took the room of others, and is deleted by now: run it again."
NO_RUN = (
    "There is no run with this address here: open it from the workspace it was started in, or start it again."
)


class Runs(Database):
    """Runs and results in the store."""

    def add_run(
        self, workspace: str, key: str, title: str, function: str, parameters: str, page: str = ""
    ) -> tuple[str, bool]:
        """Add the run of this workspace for this key; return its id and whether its result is stored already.

        `page` is the address of the page that shows the run. A run that failed, was cancelled, interrupted or
        deleted keeps its id, so that links to it stay valid.
        """
        now = time.time()
        with self._writing() as db:
            found = db.execute(
                "SELECT event, rows, started, finished, body, digest FROM results WHERE key = ?", (key,)
            ).fetchone()
            if found and not _is_whole(found):
                db.execute("DELETE FROM results WHERE key = ?", (key,))
                found = None  # it is computed again
            state = ("done", *tuple(found)[:4]) if found else ("queued", "", "[]", None, None)
            again = "SELECT id FROM runs WHERE workspace = ? AND key = ? AND deleted IS NOT NULL"
            # A deleted run that is requested again is not shared again.
            db.execute(f"DELETE FROM shares WHERE run IN ({again})", (workspace, key))
            asked = (secrets.token_urlsafe(16), workspace, key, title, function, parameters, page, now)
            run_id = db.execute(
                """INSERT INTO runs (id, workspace, key, title, function, parameters, page, created,
                    state, event, rows, started, finished)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (workspace, key) DO UPDATE SET
                    title = CASE excluded.title WHEN '' THEN title ELSE excluded.title END,
                    parameters = excluded.parameters, page = excluded.page,
                    state = excluded.state, event = excluded.event, rows = excluded.rows,
                    error = '', created = excluded.created,
                    started = excluded.started, finished = excluded.finished,
                    name = CASE WHEN deleted IS NULL THEN name ELSE '' END, deleted = NULL
                RETURNING id""",
                (*asked, *state),
            ).fetchone()["id"]
            if not found:
                # The partial result of an earlier run.
                db.execute("DELETE FROM results WHERE key = ?", (run_id,))
        return run_id, found is not None

    def note_progress(self, run_ids: Iterable[str], started: float | None, event: str, rows: str) -> None:
        """Store the progress of a running job, so that an interrupted run can show it."""
        with self._writing() as db:
            db.executemany(
                "UPDATE runs SET state = 'running', started = ?, event = ?, rows = ? WHERE id = ?",
                [(started, event, rows, run_id) for run_id in run_ids],
            )

    def finish_runs(
        self,
        run_ids: Iterable[str],
        state: str,
        *,
        started: float | None = None,
        event: str = "",
        rows: str = "[]",
        error: str = "",
        result: tuple[str, bytes] | None = None,
        finished: float | None = None,
    ) -> None:
        """End runs; `result` is (key, bytes) and is stored even if no run is left that uses it."""
        now = finished or time.time()
        with self._writing() as db:
            if result:
                db.execute(
                    "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (*result, event, rows, started, now, _digest(result[1])),
                )
            db.executemany(
                "UPDATE runs SET state = ?, started = ?, event = ?, rows = ?, error = ?, finished = ? WHERE "
                "id = ?",
                [(state, started, event, rows, error, now, run_id) for run_id in run_ids],
            )

    def keep_part(self, run_ids: Iterable[str], body: bytes) -> None:
        """Store the partial result of cancelled runs under the ids of the runs."""
        with self._writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO results SELECT id, ?, event, rows, started, ?, ? FROM runs "
                "WHERE id = ?",
                [(body, time.time(), _digest(body), run_id) for run_id in run_ids],
            )

    def make_room(self, total: int, quota: int, max_age: float) -> int:
        """Delete results older than `max_age` seconds and those that exceed the limits; return their number.

        A result is kept if it and the newer ones of at least one of its workspaces fit into `quota` bytes,
        and it and all newer ones that do into `total` bytes. So a workspace that is over its quota takes no
        room from others. The runs of deleted results stay with a message, and can be run again.
        """
        with self._writing() as db:
            gone = db.execute(
                """WITH owned AS (
                    SELECT DISTINCT results.key, results.finished, length(body) AS size, workspace
                    FROM results LEFT JOIN runs ON runs.key = results.key OR runs.id = results.key),
                counted AS (
                    SELECT *, sum(size) OVER (PARTITION BY workspace ORDER BY finished DESC, key) AS mine
                    FROM owned),
                fitting AS (
                    SELECT key, finished, size FROM counted GROUP BY key
                    HAVING finished >= ? AND (max(workspace) IS NULL OR min(mine) <= ?)),
                summed AS (
                    SELECT key, sum(size) OVER (ORDER BY finished DESC, key) AS held FROM fitting)
                SELECT key FROM results WHERE key NOT IN (SELECT key FROM summed WHERE held <= ?)""",
                (time.time() - max_age, quota, total),
            ).fetchall()
            for (key,) in gone:
                _drop(db, key, EXPIRED)
        return len(gone)

    def kept(self, workspace: str) -> tuple[int, int]:
        """Return the number of results of the runs of a workspace, and their bytes."""
        with self._reading() as db:
            count, size = db.execute(
                "SELECT count(*), sum(length(body)) FROM results WHERE key IN "
                "(SELECT key FROM runs WHERE workspace = ? UNION SELECT id FROM runs WHERE workspace = ?)",
                (workspace, workspace),
            ).fetchone()
        return count, size or 0

    def open_run(self, workspace: str, run_id: str) -> Run:
        """Return a run; raise `JobError` when it does not exist or belongs to another workspace."""
        run = self.find_run(run_id)
        if run is None or run.workspace != workspace:
            raise JobError(NO_RUN)
        return run

    def find_run(self, run_id: str) -> Run | None:
        """Return a run by its id, for the engine; an id is as unguessable as a workspace."""
        row = self._row(f"SELECT {COLUMNS} FROM runs WHERE id = ? AND deleted IS NULL", (run_id,))
        return _run(row) if row else None

    def list_runs(self, workspace: str, most: int = -1, about: str = "") -> list[Run]:
        """Return at most `most` runs of a workspace (all if negative), newest first, without events and rows.

        Their parameters contain the text `about`.
        """
        rows = self._rows(
            f"SELECT {OUTLINE} FROM runs WHERE workspace = ? AND deleted IS NULL "
            "AND instr(parameters, ?) ORDER BY created DESC, id LIMIT ?",
            (workspace, about, most),
        )
        return [_run(row) for row in rows]

    def unfinished_parameters(self) -> list[str]:
        """Return the parameters of all unfinished runs, which still need their arrays."""
        rows = self._rows("SELECT parameters FROM runs WHERE state IN (?, ?)", UNFINISHED)
        return [row["parameters"] for row in rows]

    def rename_run(self, workspace: str, run_id: str, name: str) -> None:
        """Set the name of a run, which repeated requests keep; an empty name restores the title."""
        self.open_run(workspace, run_id)
        self._change("UPDATE runs SET name = ? WHERE id = ?", (name, run_id))

    def delete_run(self, workspace: str, run_id: str) -> None:
        """Hide an ended run from all lists; `restore_run` undoes that until `forget_deleted`."""
        run = self.open_run(workspace, run_id)
        if run.state in UNFINISHED:
            raise JobError("A run can be deleted once it has ended: cancel it first.")
        self.forget_deleted()
        self._change("UPDATE runs SET deleted = ? WHERE id = ?", (time.time(), run_id))

    def restore_run(self, workspace: str, run_id: str) -> None:
        """Undo `delete_run`, unless the run was erased or belongs to another workspace."""
        statement = "UPDATE runs SET deleted = NULL WHERE id = ? AND workspace = ?"
        if not self._change(statement, (run_id, workspace)):
            raise JobError("This run was deleted too long ago to be brought back: start it again.")

    def forget_deleted(self, age: float = UNDO_SECONDS) -> None:
        """Erase runs deleted more than `age` seconds ago, with the results that no other run shows."""
        with self._writing() as db:
            gone = db.execute(
                "DELETE FROM runs WHERE deleted <= ? RETURNING id, key", (time.time() - age,)
            ).fetchall()
            db.execute("DELETE FROM shares WHERE run NOT IN (SELECT id FROM runs)")
            db.executemany(
                "DELETE FROM results WHERE key = ? AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.key = "
                "results.key)",
                [(key,) for row in gone for key in row],
            )

    def share_run(self, workspace: str, run_id: str) -> str:
        """Return an unguessable name that opens only this finished run; repeated calls return one name."""
        if self.open_run(workspace, run_id).state != "done":
            raise JobError("A run can be shared once it is done: wait for its end, or run it again.")
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO shares VALUES (?, ?)", (secrets.token_urlsafe(16), run_id))
            return db.execute("SELECT id FROM shares WHERE run = ?", (run_id,)).fetchone()["id"]

    def shares(self, workspace: str) -> dict[str, str]:
        """Return for each shared run of a workspace the name under which it is shared."""
        query = "SELECT run, shares.id FROM shares JOIN runs ON runs.id = run WHERE workspace = ?"
        rows = self._rows(query, (workspace,))
        return {row["run"]: row["id"] for row in rows}

    def shared_run(self, share: str) -> Run:
        """Return the run that is shared under this name, or raise `JobError` saying why there is none."""
        row = self._row("SELECT run FROM shares WHERE id = ?", (share,))
        run = self.find_run(row["run"]) if row else None
        if run is None:
            raise JobError(NO_SHARE)
        if run.state in UNFINISHED:
            raise JobError(ONCE_MORE)
        if run.state != "done":
            raise JobError(run.error or STOPPED)
        return run

    def result(self, key: str) -> bytes | None:
        """Return the bytes stored under a key; None when there are none.

        Bytes that have changed on the disk are deleted, and their runs fail with a `JobError`.
        """
        row = self._row("SELECT body, digest FROM results WHERE key = ?", (key,))
        if row is None:
            return None
        if not _is_whole(row):
            with self._writing() as db:
                _drop(db, key, DAMAGED)
            raise JobError(DAMAGED)
        return row["body"]

    def has_result(self, key: str) -> bool:
        """Tell whether a result is stored under a key, or a partial result under the id of a run."""
        return self._row("SELECT 1 FROM results WHERE key = ?", (key,)) is not None


def _drop(db: sqlite3.Connection, key: str, error: str) -> None:
    db.execute("DELETE FROM results WHERE key = ?", (key,))
    failed = "UPDATE runs SET state = 'failed', error = ? WHERE key = ? AND state = 'done'"
    db.execute(failed, (error, key))


def _run(row: sqlite3.Row) -> Run:
    event, rows = row["event"] and Event(**json.loads(row["event"])), tuple(json.loads(row["rows"]))
    return Run(**{**dict(row), "event": event or None, "rows": rows})


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _is_whole(row: sqlite3.Row) -> bool:
    return bool(row["digest"] == _digest(row["body"]))
