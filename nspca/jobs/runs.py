"""Runs and their results. A run belongs to a workspace; a result belongs to its content key and serves every
run that asked for it.

What a cancelled run had ready is no answer to its question: it is kept as a result too, under the id of the
run.
"""

import hashlib
import math
import secrets
import sqlite3
import time
from collections.abc import Iterable

from nspca.errors import JobError
from nspca.jobs.database import Database, is_alive
from nspca.jobs.state import UNFINISHED, Run

COLUMNS = (
    "id, workspace, key, title, function, parameters, state, event, rows, error, created, started, finished"
)
OUTLINE = COLUMNS.replace("event, rows", "'', '[]'")  # of a long list: what a run said on its way may be long
SHARE_AT_ONCE = 0.25
"""Share of all results, or of all uploads, that may go for their age in `SHARE_SECONDS`: a clock that is set
800 days ahead makes everything old at once."""
SHARE_SECONDS = 86400.0
UNDO_SECONDS = 3600.0  # in which a deleted run can be brought back
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
    """The runs part of the store.

    Attributes
    ----------
    spared : int
        Results that were too old at the last `make_room` and were kept, since they were too many at once.
    """

    spared = 0
    _shared_out = -math.inf

    def add_run(
        self, workspace: str, key: str, title: str, function: str, parameters: str, server: str
    ) -> tuple[str, bool]:
        """The run of this workspace for this key, queued; or done when the result is there.

        Asking again for what failed, was cancelled, interrupted or deleted reuses its id, so links to it stay
        good.

        Returns
        -------
        run_id : str
        done : bool
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
            db.execute(
                f"DELETE FROM shares WHERE run IN ({again})", (workspace, key)
            )  # a link that was ended stays so
            row = (
                secrets.token_urlsafe(16),
                workspace,
                key,
                title,
                function,
                parameters,
                *state[:3],
                "",
                now,
                *state[3:],
                server,
            )
            run_id = db.execute(
                f"""INSERT INTO runs ({COLUMNS}, server) VALUES ({", ".join("?" * len(row))})
                ON CONFLICT (workspace, key) DO UPDATE SET
                    title = CASE excluded.title WHEN '' THEN title ELSE excluded.title END,
                    parameters = excluded.parameters,
                    state = excluded.state, event = excluded.event, rows = excluded.rows,
                    error = '', created = excluded.created,
                    started = excluded.started, finished = excluded.finished, server = excluded.server,
                    stop = NULL,
                    name = CASE WHEN deleted IS NULL THEN name ELSE '' END, deleted = NULL
                RETURNING id""",
                row,
            ).fetchone()["id"]
            if not found:
                db.execute("DELETE FROM results WHERE key = ?", (run_id,))  # the part of an earlier time
        return run_id, found is not None

    def owner(self, key: str, server: str) -> str | None:
        """Another server that is at work on the same question, and could answer this one's."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT DISTINCT servers.* FROM runs JOIN servers ON servers.id = server WHERE key = ? AND "
                "server != ? AND state IN (?, ?)",
                (key, server, *UNFINISHED),
            ).fetchall()
        return next((row["id"] for row in rows if is_alive(row["host"], row["pid"], row["started"])), None)

    def unfinished(self, server: str) -> list[tuple[Run, bool]]:
        """What a server has to do, handed over by others too; and whether somebody wants it ended."""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS}, name, stop FROM runs WHERE server = ? AND state IN (?, ?)",
                (server, *UNFINISHED),
            ).fetchall()
        return [(Run(*row[:-1]), row["stop"] is not None) for row in rows]

    def wish_stop(self, run_id: str) -> None:
        """Ask the server that has this run to end it."""
        with self._writing() as db:
            db.execute(
                "UPDATE runs SET stop = ? WHERE id = ? AND state IN (?, ?)",
                (time.time(), run_id, *UNFINISHED),
            )

    def note_progress(self, run_ids: Iterable[str], started: float | None, event: str, rows: str) -> None:
        """Keep how far a running job is, so that an interrupted one shows what it had."""
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
        """End runs; `result` is (key, bytes) and is kept even when no run is left to show it."""
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
        """What cancelled runs had ready: kept under their own ids, as it answers nobody else's question."""
        with self._writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO results SELECT id, ?, event, rows, started, ?, ? FROM runs "
                "WHERE id = ?",
                [(body, time.time(), _digest(body), run_id) for run_id in run_ids],
            )

    def make_room(self, total: int, quota: int, max_age: float) -> int:
        """Delete results: those older than `max_age` seconds, the oldest above `total` bytes, and those above
        `quota` bytes of every workspace that has them. Return how many.

        Their runs stay, say so, and can be run again. When more than `SHARE_AT_ONCE` of all are too old, only
        the oldest go, up to that share in a day, and `spared` says how many stayed.
        """
        now = time.time()
        with self._reading() as db:
            results = db.execute(
                "SELECT key, length(body), finished FROM results ORDER BY finished DESC"
            ).fetchall()
            owners = db.execute(
                "SELECT key, workspace FROM runs UNION SELECT id, workspace FROM runs"
            ).fetchall()
        whose: dict[str, list[str]] = {}
        for key, workspace in owners:
            whose.setdefault(key, []).append(workspace)
        aged = {key for key, _, finished in results if now - finished > max_age}
        self.spared = self._spare(aged, [key for key, _, _ in results])
        held, used = 0, dict.fromkeys((row[1] for row in owners), 0)
        gone: list[str] = []
        for key, size, _ in results:
            mine = whose.get(key, [])
            full = bool(mine) and all(used[workspace] + size > quota for workspace in mine)
            if held + size > total or full or key in aged:
                gone.append(key)
                continue
            held += size
            for workspace in mine:
                used[workspace] += size
        if gone:
            with self._writing() as db:
                db.executemany("DELETE FROM results WHERE key = ?", [(key,) for key in gone])
                db.executemany(
                    "UPDATE runs SET state = 'failed', error = ? WHERE key = ? AND state = 'done'",
                    [(EXPIRED, key) for key in gone],
                )
        return len(gone)

    def _spare(self, aged: set[str], newest_first: list[str]) -> int:
        """Take from `aged`, the keys of results that are too old, those above the share; return how many.

        A share of fewer than four results is none at a start, and one a day later: they would stay for ever.
        """
        most, since = int(SHARE_AT_ONCE * len(newest_first)), time.monotonic() - self._shared_out
        if len(aged) <= most:
            return 0
        if since < SHARE_SECONDS:
            most = 0
        else:
            most = max(most, 1 if math.isfinite(since) else 0)
            self._shared_out = time.monotonic()
        oldest = set(newest_first[len(newest_first) - most :])
        spared = len(aged - oldest)
        aged &= oldest
        return spared

    def kept(self, workspace: str) -> tuple[int, int]:
        """How many results the runs of a workspace have, and their bytes."""
        with self._reading() as db:
            count, size = db.execute(
                "SELECT count(*), sum(length(body)) FROM results WHERE key IN "
                "(SELECT key FROM runs WHERE workspace = ? UNION SELECT id FROM runs WHERE workspace = ?)",
                (workspace, workspace),
            ).fetchone()
        return count, size or 0

    def open_run(self, workspace: str, run_id: str) -> Run:
        """A run of this workspace.

        Raises
        ------
        JobError
            When it is not there, or belongs to another workspace; the two look the same from outside.
        """
        run = self.find_run(run_id)
        if run is None or run.workspace != workspace:
            raise JobError(NO_RUN)
        return run

    def find_run(self, run_id: str) -> Run | None:
        """A run by its id alone, for the engine: the id is as unguessable as the workspace."""
        with self._reading() as db:
            row = db.execute(
                f"SELECT {COLUMNS}, name FROM runs WHERE id = ? AND deleted IS NULL", (run_id,)
            ).fetchone()
        return Run(*row) if row else None

    def list_runs(self, workspace: str, *, outline: bool = False, most: int = -1) -> list[Run]:
        """Runs of a workspace, the newest first: all of them, or `most`; in `outline` without what they said
        on their way.
        """
        wanted = f"{OUTLINE if outline else COLUMNS}, name"
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {wanted} FROM runs WHERE workspace = ? AND deleted IS NULL ORDER BY created DESC, "
                "id LIMIT ?",
                (workspace, most),
            ).fetchall()
        return [Run(*row) for row in rows]

    def unfinished_parameters(self) -> list[str]:
        """Parameters of every run that still needs its arrays, whichever process it belongs to."""
        with self._reading() as db:
            return [
                row[0] for row in db.execute("SELECT parameters FROM runs WHERE state IN (?, ?)", UNFINISHED)
            ]

    def rename_run(self, workspace: str, run_id: str, name: str) -> None:
        """A name of its own; asking for the same again does not take it away, an empty one gives back the
        title.
        """
        self.open_run(workspace, run_id)
        with self._writing() as db:
            db.execute("UPDATE runs SET name = ? WHERE id = ?", (name, run_id))

    def delete_run(self, workspace: str, run_id: str) -> None:
        """Take a run that has ended out of every list; `restore_run` brings it back until
        `forget_deleted`.
        """
        run = self.open_run(workspace, run_id)
        if run.state in UNFINISHED:
            raise JobError("A run can be deleted once it has ended: cancel it first.")
        self.forget_deleted()
        with self._writing() as db:
            db.execute("UPDATE runs SET deleted = ? WHERE id = ?", (time.time(), run_id))

    def restore_run(self, workspace: str, run_id: str) -> None:
        """Undo `delete_run`.

        Raises
        ------
        JobError
            When it is too late, or the run is of another workspace.
        """
        with self._writing() as db:
            if not db.execute(
                "UPDATE runs SET deleted = NULL WHERE id = ? AND workspace = ?", (run_id, workspace)
            ).rowcount:
                raise JobError("This run was deleted too long ago to be brought back: start it again.")

    def forget_deleted(self, age: float = UNDO_SECONDS) -> None:
        """Runs deleted longer than `age` seconds ago go for good, with the results that no other run
        shows.
        """
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
        """An unguessable name that opens this finished run, and nothing else of its workspace; the same each
        time.
        """
        if self.open_run(workspace, run_id).state != "done":
            raise JobError("A run can be shared once it is done: wait for its end, or run it again.")
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO shares VALUES (?, ?)", (secrets.token_urlsafe(16), run_id))
            return db.execute("SELECT id FROM shares WHERE run = ?", (run_id,)).fetchone()["id"]

    def shares(self, workspace: str) -> dict[str, str]:
        """Of each run of a workspace that is shared, the name it is shared under."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT run, shares.id FROM shares JOIN runs ON runs.id = run WHERE workspace = ?",
                (workspace,),
            ).fetchall()
        return {row["run"]: row["id"] for row in rows}

    def shared_run(self, share: str) -> Run:
        """The run that is shared under this name.

        Raises
        ------
        JobError
            When there is none or it was deleted; while it runs once more; and when what it returned is not
            kept any longer, with the reason.
        """
        with self._reading() as db:
            row = db.execute("SELECT run FROM shares WHERE id = ?", (share,)).fetchone()
        run = self.find_run(row["run"]) if row else None
        if run is None:
            raise JobError(NO_SHARE)
        if run.state in UNFINISHED:
            raise JobError(ONCE_MORE)
        if run.state != "done":
            raise JobError(run.error or STOPPED)
        return run

    def result(self, key: str) -> bytes | None:
        """What was returned, as it was; None when there is nothing.

        Raises
        ------
        JobError
            When the bytes are no longer those that were kept: they are deleted, and its runs have failed.
        """
        with self._reading() as db:
            row = db.execute("SELECT body, digest FROM results WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if not _is_whole(row):
            with self._writing() as db:
                db.execute("DELETE FROM results WHERE key = ?", (key,))
                db.execute(
                    "UPDATE runs SET state = 'failed', error = ? WHERE key = ? AND state = 'done'",
                    (DAMAGED, key),
                )
            raise JobError(DAMAGED)
        return row["body"]

    def has_result(self, key: str) -> bool:
        with self._reading() as db:
            return db.execute("SELECT 1 FROM results WHERE key = ?", (key,)).fetchone() is not None


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _is_whole(row: sqlite3.Row) -> bool:
    """Whether a result is what was kept; of one from before there were digests it is not known."""
    return not row["digest"] or row["digest"] == _digest(row["body"])
