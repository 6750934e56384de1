"""The first answer of a page: the answer to its usual question, shown before a visitor asks.

Some answers about the samples are stored: each ZIP of `sample_data/answers`, made by ``python -m
scripts.answers``, has a JSON with the question, the hash of the data and the time of the computation, and the
sweep. A worker computes every other first answer at first use.
"""

import io
import json
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import cache
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import defaults, lookup, progress
from nspca.dashboard.runs.answer import Answer
from nspca.data.catalogue import sample_folder
from nspca.errors import NSPCAError
from nspca.jobs import JobState
from nspca.specs import ProblemSpec, Spec
from nspca.validation.archive import open_zip, unzip_member

ABOUT, SWEEP = "about.json", "sweep.zip"
PATIENCE = 1.2  # maximum seconds that a page waits for a first answer that has just been asked
LARGEST = defaults.LARGEST  # maximum entries of a table with a first answer


def unasked(of: Chosen, asked: ProblemSpec) -> Answer | None:
    """Return the default run that answers a question; start it where no stored answer exists.

    The run may be stored, finished or running. Returns None when the data are too large or give no valid
    problem, and when the run failed.
    """
    stored = find_stored(of.reference.sample, of.content, asked.numbers_only())
    if stored is not None:
        began = stored.computed - stored.seconds
        now = JobState(
            f"stored-{of.content[:16]}", "done", created=began, started=began, finished=stored.computed
        )
        return Answer(of, asked, open_data.problem_of(of, asked), stored.sweep, now=now, is_default=True)
    if not defaults.small_enough(of, LARGEST):
        return None
    try:
        problem = open_data.problem_of(of, asked)
        now = defaults.ask(asked.numbers_only(), of.content, lambda: of.given, automatic=True)
        now = progress.wait_shortly(now.id, PATIENCE - (time.time() - (now.created or 0.0)))
        if now.ended and now.state != "done":
            return None
    except NSPCAError:
        return None
    return Answer(of, asked, problem, lookup.read_sweep(now), now=now, is_default=True)


@dataclass(frozen=True, eq=False)
class StoredAnswer:
    """A stored answer with its question."""

    content: str  # hash of the data
    spec: dict[str, Any]  # the question as JSON values
    computed: float  # time of the computation, in seconds since 1970
    seconds: float  # duration of the computation
    sweep: nspca.Sweep  # the results

    def to_bytes(self) -> bytes:
        """Return the answer as the bytes of its file."""
        about = {name: value for name, value in vars(self).items() if name != "sweep"}
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo(ABOUT), json.dumps(about, indent=1))
            archive.writestr(zipfile.ZipInfo(SWEEP), self.sweep.to_bytes(), zipfile.ZIP_DEFLATED)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "StoredAnswer":
        """Return the answer that `to_bytes` wrote."""
        archive, members = open_zip(content)
        files = {info.filename: unzip_member(archive, info) for info in members}
        return cls(**json.loads(files[ABOUT]), sweep=nspca.Sweep.from_bytes(files[SWEEP]))


def folder() -> Path:
    """Return the folder of the stored answers."""
    return sample_folder() / "answers"


def file_of(spec: Spec, sample: str) -> Path:
    """Return the file of the answer to a kind of question about a sample."""
    return folder() / f"{spec.kind}-{sample}.zip"


def find_stored(sample: str | None, content: str, spec: Spec) -> StoredAnswer | None:
    """Return the stored answer to an equal question about data with the hash `content`, or None."""
    if sample is None or not file_of(spec, sample).is_file():
        return None
    answer = _read_stored(file_of(spec, sample))
    return answer if (answer.content, answer.spec) == (content, spec.to_plain()) else None


def find_same_problem(of: Chosen, asked: ProblemSpec) -> nspca.Sweep | None:
    """Return the stored sweep about the problem of a question, at whatever k and effort; None without one."""
    sample = of.reference.sample
    if sample is None or not file_of(asked, sample).is_file():
        return None
    answer = _read_stored(file_of(asked, sample))
    same = ProblemSpec.from_plain(answer.spec).same_problem == asked.numbers_only().same_problem
    return answer.sweep if answer.content == of.content and same else None


@cache.keep()
def _read_stored(path: Path) -> StoredAnswer:
    return StoredAnswer.from_bytes(path.read_bytes())
