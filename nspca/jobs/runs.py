"""Runs and their results. A run belongs to a workspace; a result belongs to its content key and serves every run that asked for it."""

import secrets
import time
from collections.abc import Iterable

from nspca.errors import JobError
from nspca.jobs.database import Database
from nspca.jobs.state import UNFINISHED, Run

COLUMNS = "id, workspace, key, title, function, parameters, state, event, rows, error, created, started, finished"
NO_RUN = "There is no run with this address here: open it from the workspace it was started in, or start it again."


class Runs(Database):
    """The runs part of the store."""

    def add_run(self, workspace: str, key: str, title: str, function: str, parameters: str, server: str) -> tuple[str, bool]:
        """The run of this workspace for this key, queued; or done when the result is there.

        Asking again for what failed, was cancelled or interrupted reuses its id, so links to it stay good.

        Returns
        -------
        run_id : str
        done : bool
        """
        now = time.time()
        with self._writing() as db:
            found = db.execute("SELECT event, rows, started, finished FROM results WHERE key = ?", (key,)).fetchone()
            state = ("done", *found) if found else ("queued", "", "[]", None, None)
            row = (secrets.token_urlsafe(16), workspace, key, title, function, parameters, *state[:3], "", now, *state[3:], server)
            run_id = db.execute(
                f"""INSERT INTO runs ({COLUMNS}, server) VALUES ({", ".join("?" * len(row))})
                ON CONFLICT (workspace, key) DO UPDATE SET
                    title = CASE excluded.title WHEN '' THEN title ELSE excluded.title END, parameters = excluded.parameters,
                    state = excluded.state, event = excluded.event, rows = excluded.rows, error = '', created = excluded.created,
                    started = excluded.started, finished = excluded.finished, server = excluded.server
                RETURNING id""",
                row,
            ).fetchone()["id"]
        return run_id, found is not None

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
    ) -> None:
        """End runs; `result` is (key, bytes) and is kept even when no run is left to show it."""
        now = time.time()
        with self._writing() as db:
            if result:
                db.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)", (*result, event, rows, started, now))
            db.executemany(
                "UPDATE runs SET state = ?, started = ?, event = ?, rows = ?, error = ?, finished = ? WHERE id = ?",
                [(state, started, event, rows, error, now, run_id) for run_id in run_ids],
            )

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
            row = db.execute(f"SELECT {COLUMNS} FROM runs WHERE id = ?", (run_id,)).fetchone()
        return Run(*row) if row else None

    def list_runs(self, workspace: str) -> list[Run]:
        """All runs of a workspace, the newest first."""
        with self._reading() as db:
            rows = db.execute(f"SELECT {COLUMNS} FROM runs WHERE workspace = ? ORDER BY created DESC, id", (workspace,)).fetchall()
        return [Run(*row) for row in rows]

    def unfinished_parameters(self) -> list[str]:
        """Parameters of every run that still needs its arrays, whichever process it belongs to."""
        with self._reading() as db:
            return [row[0] for row in db.execute("SELECT parameters FROM runs WHERE state IN (?, ?)", UNFINISHED)]

    def rename_run(self, workspace: str, run_id: str, title: str) -> None:
        self.open_run(workspace, run_id)
        with self._writing() as db:
            db.execute("UPDATE runs SET title = ? WHERE id = ?", (title, run_id))

    def delete_run(self, workspace: str, run_id: str) -> None:
        """Forget a run that has ended, and its result when no other run shows it."""
        run = self.open_run(workspace, run_id)
        if run.state in UNFINISHED:
            raise JobError("A run can be deleted once it has ended: cancel it first.")
        with self._writing() as db:
            db.execute("DELETE FROM runs WHERE id = ?", (run_id,))
            db.execute("DELETE FROM results WHERE key = ? AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.key = results.key)", (run.key,))

    def result(self, key: str) -> bytes | None:
        with self._reading() as db:
            row = db.execute("SELECT body FROM results WHERE key = ?", (key,)).fetchone()
        return row["body"] if row else None

    def has_result(self, key: str) -> bool:
        with self._reading() as db:
            return db.execute("SELECT 1 FROM results WHERE key = ?", (key,)).fetchone() is not None
