"""Back up the store while servers use it, and restore a backup, for the commands `backup` and `restore`."""

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from nspca.errors import JobError
from nspca.jobs.database import VERSION, Database, default_home, interrupt_all
from nspca.jobs.store import Store
from nspca.jobs.upload_files import UploadFiles, is_backup


def backup(path: Path | str, home: Path | str | None = None) -> int:
    """Copy runs, results and uploads, as of one moment, to one file, and return its size in bytes.

    Parameters
    ----------
    path : file to write; an existing one is replaced
    home : folder of the store; by default `default_home`

    Raises
    ------
    JobError
        When there is no store, or the file cannot be written.
    """
    path, source = Path(path), Path(home or default_home()) / "runs.sqlite"
    if not source.is_file():
        raise JobError(f"There is no store {source} to copy: set NSPCA_HOME to the folder that has it.")
    part = path.with_name(path.name + ".part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # runs and uploads are private
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(part)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")
            with new:
                UploadFiles(source.parent / "uploads").copy_in(new)
        os.replace(part, path)
    except (OSError, sqlite3.Error) as error:
        part.unlink(missing_ok=True)
        raise JobError(
            f"The copy {path} could not be written ({error}): make room or name another."
        ) from error
    return path.stat().st_size


def restore(path: Path | str, home: Path | str | None = None) -> Path | None:
    """Replace the store by a backup, and return the new path of the previous store, None if there was none.

    Runs that were unfinished when the copy was made are interrupted.

    Parameters
    ----------
    path : file that `backup` wrote
    home : folder of the store; by default `default_home`

    Raises
    ------
    JobError
        When the file is no backup of this version, a server uses the store, or the disk is full.
    """
    path, home = Path(path), Path(home or default_home())
    _check(path)
    place, before = home / "runs.sqlite", None
    if place.exists():
        with closing(Database(home)) as there:
            there.interrupt_orphans()
            if there.is_shared(""):
                raise JobError(f"A server uses the store {place}: stop it first.")
        before = home / time.strftime("runs-before-%Y%m%d-%H%M%S.sqlite")
        backup(before, home)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = home / "runs.sqlite.part"
    try:
        shutil.copyfile(path, part)
        part.chmod(0o600)
        _make_store(part, UploadFiles(home / "uploads"))
    except (OSError, sqlite3.Error, JobError) as error:
        part.unlink(missing_ok=True)
        raise JobError(
            f"The copy {path} could not be restored ({error}): make room in {home}, or set NSPCA_HOME to "
            "another folder."
        ) from error
    for beside in ("runs.sqlite-wal", "runs.sqlite-shm"):
        (home / beside).unlink(missing_ok=True)
    os.replace(part, place)
    Store(home).close()  # deletes the files of uploads that the backup does not have
    return before


def _make_store(copy: Path, files: UploadFiles) -> None:
    """Turn a copy of a backup into a store: its uploads become files, and its runs are not at work."""
    with closing(sqlite3.connect(copy)) as db:
        with db:
            files.move_out(db)
            interrupt_all(db)
        db.execute("VACUUM")


def _check(path: Path) -> None:
    """Refuse a file that is no intact backup of this version."""
    if not path.is_file():
        raise JobError(f"There is no file {path} to restore from: check its path.")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            sound = db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
            db.execute("SELECT count(*) FROM runs").fetchone()
            version = db.execute("PRAGMA user_version").fetchone()[0]
            complete = is_backup(db)
    except sqlite3.Error as error:
        raise JobError(f"{path} is no copy of a store ({error}): give the file that backup wrote.") from error
    if not sound:
        raise JobError(f"{path} is damaged: give an older copy.")
    if version != VERSION:
        raise JobError(
            f"{path} must be of version {VERSION}, got version {version}: use the nspca that wrote it, or "
            "give another copy."
        )
    if not complete:
        raise JobError(f"{path} must be a copy that backup wrote, got a store itself: make a backup of it.")
