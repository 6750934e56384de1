"""Read the answers that ship with the samples, made by ``python -m scripts.answers``.

Each ZIP of `sample_data/answers` holds two files: a JSON with the question, the hash of the data and
the time of the computation, and the sweep. `first_answer` looks an answer up by `find`.
"""

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nspca
from nspca.dashboard.app import cache
from nspca.data.folders import sample_folder
from nspca.specs import Spec
from nspca.validation.archive import open_zip, unzip_member

ABOUT, SWEEP = "about.json", "sweep.zip"


@dataclass(frozen=True, eq=False)
class Answer:
    """A stored answer with its question.

    Parameters
    ----------
    content : hash of the data
    spec : the question as JSON values
    computed : time of the computation, in seconds since 1970
    seconds : duration of the computation
    sweep : the results
    """

    content: str
    spec: dict[str, Any]
    computed: float
    seconds: float
    sweep: nspca.Sweep

    def to_bytes(self) -> bytes:
        """Return the answer as the bytes of its file."""
        about = {name: value for name, value in vars(self).items() if name != "sweep"}
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo(ABOUT), json.dumps(about, indent=1))
            archive.writestr(zipfile.ZipInfo(SWEEP), self.sweep.to_bytes(), zipfile.ZIP_DEFLATED)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Answer":
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


def find(sample: str | None, content: str, spec: Spec) -> Answer | None:
    """Return the stored answer to an equal question about data with the hash `content`, or None."""
    if sample is None or not file_of(spec, sample).is_file():
        return None
    answer = _opened(file_of(spec, sample))
    return answer if (answer.content, answer.spec) == (content, spec.to_plain()) else None


@cache.keep()
def _opened(path: Path) -> Answer:
    return Answer.from_bytes(path.read_bytes())
