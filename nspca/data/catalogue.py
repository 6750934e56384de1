"""The catalogue of samples: title, shape, licence and download addresses of each, from ``catalogue.toml``.

Pages and commands show it. `load_sample` and `fetch_sample` find their data by it.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nspca.data.dataset import Kind
from nspca.data.names import short
from nspca.errors import InvalidData, shown


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
    machine, `package` the installed package that holds it. `total` is the sum of all values of the copy of
    the project's reference figures, `meanings` what a feature with a short name measures.
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
