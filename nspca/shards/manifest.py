"""The manifest ``shards.json`` of a folder: counts, files and checksums, checked against each other.

The writer of a folder writes it, and `Shards` reads it before any block.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nspca.errors import InvalidData, shown

FILE = "shards.json"
FEATURES = "features.txt"
FORMAT, VERSION = "nspca shards", 1
PARTS = ("indptr", "indices", "data")
"""The arrays of a shard, as in compressed sparse rows."""
MOST_BYTES = 64 * 2**20
"""Maximum bytes of a manifest; one of a hundred thousand shards has 60 MB."""
WAY_OUT = "make the folder again with `python -m nspca shard`"


@dataclass(frozen=True)
class Content:
    """Size and SHA-256 of one file."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Shard:
    """One block of rows: its rows, its nonzeros and the content of its files by part."""

    rows: int
    nonzeros: int
    files: dict[str, Content]


@dataclass(frozen=True)
class Manifest:
    """The content of a folder, as its manifest says it.

    Attributes
    ----------
    name : str
        The name of the data, which is only ever shown.
    rows, columns, nonzeros : int
    largest : float
        Largest absolute value: it gives the unit scale before the first pass.
    digest : str
        Content hash of the table, as certificates have it.
    features : Content or None
        The content of `FEATURES`, a name in each line; None where features have no names.
    shards : tuple of Shard
        In the order of their rows.
    notes : tuple of str
        Notes about reading the file, which are only ever shown.
    """

    name: str
    rows: int
    columns: int
    nonzeros: int
    largest: float
    digest: str
    features: Content | None
    shards: tuple[Shard, ...]
    notes: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write the manifest, which is the last file of a folder."""
        text = json.dumps({"format": FORMAT, "version": VERSION} | asdict(self), indent=1, allow_nan=False)
        (folder / FILE).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read and check the manifest of a folder.

        Raises
        ------
        InvalidData
            For a folder without a manifest, and for a manifest that is damaged or contradicts itself.
        """
        path = folder / FILE
        if path.is_symlink() or not path.is_file():
            raise InvalidData(f"A folder of shards holds a {FILE}, got {folder} without one: {WAY_OUT}.")
        if path.stat().st_size > MOST_BYTES:
            raise InvalidData(f"{path} has more bytes than that of any folder of shards: {WAY_OUT}.")
        try:
            record = json.loads(path.read_bytes(), parse_constant=_no_number)
            if (record.pop("format"), record.pop("version")) != (FORMAT, VERSION):
                raise ValueError(f"another format or version than {FORMAT!r} {VERSION}")
            shards = tuple(_shard(one) for one in record.pop("shards"))
            features = record.pop("features")
            features = None if features is None else _content(features)
            notes = tuple(record.pop("notes", ()))
            return cls(**record, notes=notes, features=features, shards=shards)._checked()
        except Exception as error:  # untrusted text can be wrong in every way JSON has
            raise InvalidData(f"{path} cannot be read ({shown(error)}): {WAY_OUT}.") from None

    def _checked(self) -> "Manifest":
        """Return this manifest, after checking that its counts agree; ValueError if not."""
        counts = [self.rows, self.columns, self.nonzeros, *(one.rows for one in self.shards)]
        counts += [one.nonzeros for one in self.shards]
        if not all(_count(one) for one in counts) or not self.rows or not 0 < self.columns < 2**31:
            raise ValueError("counts that are no counts")
        for what in ("rows", "nonzeros"):
            total = sum(getattr(one, what) for one in self.shards)
            if total != getattr(self, what):
                raise ValueError(f"{getattr(self, what)} {what}, but {total} in its shards")
        if not isinstance(self.largest, float | int) or not math.isfinite(self.largest) or self.largest < 0:
            raise ValueError("a largest value that is none")
        if not all(isinstance(one, str) for one in (self.name, *self.notes)) or not _hash(self.digest):
            raise ValueError("a name, a note or a digest that is none")
        return self


def file_of(number: int, part: str) -> str:
    """Return the file name of a part of a shard; the manifest names no files, so none can lead elsewhere."""
    return f"{number:06d}.{part}.npy"


def _shard(record: dict[str, Any]) -> Shard:
    """Return a shard from its record; ValueError for a wrong one."""
    files = {part: _content(one) for part, one in record["files"].items()}
    if set(files) != set(PARTS) or set(record) != {"rows", "nonzeros", "files"}:
        raise ValueError("a shard with other parts")
    return Shard(record["rows"], record["nonzeros"], files)


def _content(record: dict[str, Any]) -> Content:
    """Return the content of a file from its record; ValueError for a wrong one."""
    content = Content(**record)
    if not _count(content.bytes) or not _hash(content.sha256):
        raise ValueError("a file without its size or checksum")
    return content


def _count(number: Any) -> bool:
    """Tell whether a value of the manifest is a count: an integer that is at least 0."""
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62


def _hash(text: Any) -> bool:
    """Tell whether a value of the manifest is a SHA-256 in hexadecimal digits."""
    return isinstance(text, str) and len(text) == 64 and all(c in "0123456789abcdef" for c in text)


def _no_number(text: str) -> float:
    """Refuse NaN and infinity, which `json.loads` would accept; called for each of them."""
    raise ValueError(f"{text}, which is no number")
