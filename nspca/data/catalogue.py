"""The catalogue of samples, from ``catalogue.toml``, and the folders with their files.

Pages and commands show it. `load_sample` and `fetch_sample` find their data by it.
"""

import os
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nspca.data.dataset import Kind
from nspca.data.names import short
from nspca.errors import InvalidData, shown

_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Original:
    """Name and address of a file of an original data set.

    No checksums are published: what arrives is checked by its shape and by parsing every entry.
    """

    file: str
    url: str


@dataclass(frozen=True)
class Sample:
    """A sample in the catalogue.

    `shape` is None when it depends on the installation. `source_url` is the lasting page of the original,
    `size` that of a download in words; `originals` are the files that `fetch_sample` downloads, and `how`
    says where a person finds the data. `relative` is the sample that is shown while this one is not on the
    machine, `file` its file in the folder that ``NSPCA_DATA`` names, `package` the installed package that
    holds it. `total` is the sum of all values of the copy of the project's reference figures, `meanings`
    what a feature with a short name measures.
    """

    title: str
    summary: str
    kind: Kind
    shape: tuple[int, int] | None
    licence: str
    source_url: str = ""
    size: str = ""
    originals: tuple[Original, ...] = ()
    how: str = ""
    relative: str = ""
    file: str = ""
    package: str = ""
    total: float | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def provenance(self) -> str:
        """Content, origin and licence on one line."""
        return f"{self.title}: {self.summary}; {self.licence}"

    @property
    def downloadable(self) -> bool:
        """Tell whether `fetch_sample` can download the sample."""
        return bool(self.originals)


def _read_catalogue() -> dict[str, Sample]:
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for entry in entries.values():
        entry["shape"] = tuple(entry["shape"]) if "shape" in entry else None
        entry["originals"] = tuple(Original(**one) for one in entry.get("originals", ()))
    return {name: Sample(**entry) for name, entry in entries.items()}


SAMPLES = _read_catalogue()
"""Every sample by its name."""


def find_sample(name: str) -> Sample:
    """Return a sample of the catalogue; `InvalidData` for an unknown name."""
    if not isinstance(name, str) or name not in SAMPLES:
        got = f'"{short(name)}"' if isinstance(name, str) else shown(name)
        raise InvalidData(f"There is no sample {got}: the samples are {', '.join(SAMPLES)}.")
    return SAMPLES[name]


def sample_folder() -> Path:
    """Return the folder of the small samples: inside an installed package, beside it in a source tree."""
    inside = _PACKAGE / "_sample_data"
    return inside if inside.is_dir() else _PACKAGE.parent / "sample_data"


def cache_folder() -> Path:
    """Return the folder for fetched and adopted samples: in ``NSPCA_HOME`` if set, else the user's cache."""
    home = os.environ.get("NSPCA_HOME")
    caches = {"darwin": "~/Library/Caches", "win32": "~/AppData/Local"}.get(sys.platform, "~/.cache")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or caches).expanduser()
    return (Path(home) if home else cache / "nspca") / "samples"


def originals_folder() -> Path | None:
    """Return the folder of original data sets that ``NSPCA_DATA`` names, or None."""
    named = os.environ.get("NSPCA_DATA")
    return Path(named) if named else None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file in one step: another process never sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, path)
    except BaseException:
        # The exception goes on; only the half-written file must not stay behind.
        Path(temporary).unlink(missing_ok=True)
        raise
