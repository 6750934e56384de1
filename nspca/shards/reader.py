"""The class `Shards`: a folder of shards, opened for reading by passes over its blocks of rows.

The folder holds one matrix in canonical compressed rows (``indptr.npy``, ``indices.npy``, ``data.npy``), the
names of its columns (``features.txt``), and the record ``shards.json``: counts, the content digest, and a
checksum for each block of rows, so that a worker which reads some blocks can check these alone.

The checker needs only the `shape` (rows, columns) and `blocks()`, which yields the rows in order as CSR
blocks, and accepts any object that has both. Solvers also need the `digest` and `largest`, and the workers of
a Dask client the length and `block`.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.errors import InvalidData, shown
from nspca.presentation import drawing, phrases
from nspca.progress import Event, tell
from nspca.validation.features import numbers_of

FILE, FEATURES = "shards.json", "features.txt"
FORMAT, VERSION = "nspca shards", 2
TYPES = {"indptr": "<i8", "indices": "<i4", "data": "<f8"}
"""The arrays of a folder and their types, as in compressed sparse rows."""
HEADER = 128
"""Bytes before the numbers in each of the three files: room for a header of any length of the array."""
MOST_BYTES = 64 * 2**20
"""Maximum bytes of a record; one of a hundred thousand blocks has 10 MB."""
WAY_OUT = "make the folder again with `python -m nspca shard`"
SAMPLED = 8
"""Maximum number of blocks from which a sample of rows is taken."""


@dataclass(frozen=True)
class Record:
    """The content of a folder, as its ``shards.json`` says it.

    Attributes
    ----------
    name : str
        The name of the data, which is only ever shown.
    columns : int
    largest : float
        Largest absolute value: it gives the unit scale before the first pass.
    digest : str
        Content hash of the table, as certificates have it.
    features : str or None
        SHA-256 of the file of names; None where features have no names.
    blocks : sequence of (rows, nonzeros, SHA-256)
    notes : sequence of str
        Notes about reading the file, which are only ever shown.
    """

    name: str
    columns: int
    largest: float
    digest: str
    features: str | None
    blocks: Sequence[tuple[int, int, str]]
    notes: Sequence[str] = ()

    def write(self, folder: Path) -> None:
        """Write the record, which is the last file of a folder."""
        text = json.dumps({"format": FORMAT, "version": VERSION} | asdict(self), indent=1, allow_nan=False)
        (folder / FILE).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Record":
        """Read and check the record of a folder; `InvalidData` when it is missing, old or wrong."""
        path = folder / FILE
        if path.is_symlink() or not path.is_file():
            raise InvalidData(f"A folder of shards holds a {FILE}, got {folder} without one: {WAY_OUT}.")
        if path.stat().st_size > MOST_BYTES:
            raise InvalidData(f"{path} has more bytes than that of any folder of shards: {WAY_OUT}.")
        try:
            fields = json.loads(path.read_bytes())
            if (fields.pop("format"), fields.pop("version")) != (FORMAT, VERSION):
                raise ValueError(f"another format or version than {FORMAT!r} {VERSION}")
            record = cls(**fields)
            record._check()
            return record
        except Exception as error:  # untrusted text can be wrong in every way JSON has
            raise InvalidData(f"{path} cannot be read ({shown(error)}): {WAY_OUT}.") from None

    def _check(self) -> None:
        """Raise ValueError for fields that are not what they should be."""
        counts = [self.columns, *(count for rows, nonzeros, _ in self.blocks for count in (rows, nonzeros))]
        whole = all(type(count) is int and 0 <= count < 2**62 for count in counts)
        if not whole or not 0 < self.columns < 2**31 or not sum(rows for rows, _, _ in self.blocks):
            raise ValueError("counts that are no counts")
        if type(self.largest) not in (int, float) or not 0 <= self.largest < math.inf:
            raise ValueError("a largest value that is none")
        hashes = [
            self.digest,
            *([] if self.features is None else [self.features]),
            *(sha for *_, sha in self.blocks),
        ]
        if not all(isinstance(sha, str) and len(bytes.fromhex(sha)) == 32 for sha in hashes):
            raise ValueError("a checksum that is none")
        if not all(isinstance(text, str) for text in (self.name, *self.notes)):
            raise ValueError("a name or a note that is no text")


class Shards:
    """A folder of shards, opened for reading.

    Parameters
    ----------
    folder : str or Path

    Attributes
    ----------
    shape : (rows, columns)
    nonzeros : int
    nbytes : int
        Bytes of the numbers in the folder.
    digest : str
        Content hash of the table, as the record has it; `nspca.verify` computes its own.
    largest : float
        Largest absolute value, as the record has it.
    name, notes
        The name of the data, and notes about the file that the folder was made of.
    has_names : bool
        Whether the columns have names.
    source, is_covariance, prepared
        As of a `nspca.Dataset` that was read and is neither a covariance nor prepared.

    Raises
    ------
    InvalidData
        When the record is missing or disagrees with itself, or a file is missing or has another size.
        Contents are checked when a block is first read.

    Notes
    -----
    Pickling stores the path of the folder and its content. Another process opens this folder once, refuses it
    if the content differs, and reads it there.
    """

    source, is_covariance = "user", False
    prepared: tuple[str, ...] = ()

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self._record = record = Record.read(self.folder)
        self.digest, self.largest, self.name = record.digest, float(record.largest), record.name
        self.notes, self.has_names = tuple(record.notes), record.features is not None
        self._rows = np.cumsum([0, *(rows for rows, _, _ in record.blocks)])
        self._entries = np.cumsum([0, *(nonzeros for _, nonzeros, _ in record.blocks)])
        self.shape, self.nonzeros = (int(self._rows[-1]), record.columns), int(self._entries[-1])
        self._checked: set[int] = set()
        lengths = {"indptr": self.shape[0] + 1, "indices": self.nonzeros, "data": self.nonzeros}
        self.nbytes = sum(length * np.dtype(TYPES[part]).itemsize for part, length in lengths.items())
        for part, length in lengths.items():
            self._check_file(part, length)

    def __repr__(self) -> str:
        """Describe the table in two lines: its size, and where it is."""
        (rows, columns), blocks = self.shape, len(self)
        size = f"{rows} samples x {columns} features, {self.nonzeros} nonzeros"
        files = f"{blocks} block{'s' * (blocks != 1)} of rows, {self.nbytes / 1e6:.4g} MB"
        where = f"digest {self.digest[:12]}, in {phrases.short(str(self.folder))}"
        return f"Shards {phrases.short(self.name)!r}: {size}\n{files}, {where}"

    def _repr_html_(self) -> str:
        """Return the two lines of `repr` as HTML for a notebook."""
        return drawing.block(repr(self))

    def __len__(self) -> int:
        """Return the number of blocks of rows."""
        return len(self._record.blocks)

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        """Pickle the path and a checksum of the record; see Notes of the class."""
        return _opened, (str(self.folder.absolute()), self._mark)

    @property
    def _mark(self) -> str:
        """Checksum of the record, by which two processes tell that they read equal files."""
        return hashlib.sha256(repr(self._record).encode()).hexdigest()

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns; "feature 1" and so on where they have none."""
        columns, path = self.shape[1], self.folder / FEATURES
        if not self.has_names:
            return tuple(f"feature {j}" for j in range(1, columns + 1))
        if path.is_symlink() or not path.is_file():
            raise InvalidData(f"{path} is missing: {WAY_OUT}.")
        if path.stat().st_size > max(MOST_BYTES, 1000 * columns):
            raise InvalidData(f"{path} is too long for {columns} names: {WAY_OUT}.")
        raw = path.read_bytes()
        if hashlib.sha256(raw).hexdigest() != self._record.features:
            raise InvalidData(f"{path} is not what its checksum says: {WAY_OUT}.")
        names = tuple(raw.decode(errors="replace").removesuffix("\n").split("\n"))
        if len(names) != columns:
            raise InvalidData(f"{path} must hold {columns} names, got {len(names)}: {WAY_OUT}.")
        return names

    def numbers(self, features: Sequence[int | str]) -> np.ndarray:
        """Return the sorted numbers of features given by number or by name; see `nspca.Dataset.numbers`."""
        return numbers_of(features, self.feature_names)

    def blocks(self) -> Iterator[sp.csr_array]:
        """Yield the rows in order, in blocks that are mapped from their files until the next one.

        Raises
        ------
        InvalidData
            For a block whose content is not what the record says, or no block of rows.
        """
        for number in range(len(self)):
            tell(Event("reading", number, len(self)))
            yield self.block(number)

    def block(self, number: int) -> sp.csr_array:
        """Return one block of rows; its contents are checked the first time."""
        (start, stop), (first, last) = self._rows[number : number + 2], self._entries[number : number + 2]
        pieces = {"indptr": (start, stop + 1), "indices": (first, last), "data": (first, last)}
        indptr, indices, data = (self._mapped(part, *piece) for part, piece in pieces.items())
        if number not in self._checked:
            if checksum(indptr, indices, data) != self._record.blocks[number][2]:
                raise InvalidData(
                    f"Rows {start + 1} to {stop} of the folder {self.folder} are damaged, their checksum is "
                    f"another one: {WAY_OUT}."
                )
            self._check_block(indptr, indices, data, first, last)
            self._checked.add(number)
        shape = int(stop - start), self.shape[1]
        return sp.csr_array((data, indices, indptr - first), shape=shape, copy=False)

    def sample(self, rows: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
        """Return at most `rows` random rows, of at most `SAMPLED` blocks, and their numbers from 0."""
        rng, pieces, numbers, left = np.random.default_rng(seed), [], [], rows
        chosen = np.sort(rng.permutation(len(self))[: min(SAMPLED, rows)])
        for done, number in enumerate(chosen):
            start, stop = self._rows[number : number + 2]
            count = min(stop - start, -(-left // (chosen.size - done)))
            here = np.sort(rng.permutation(stop - start)[:count])
            pieces.append(self.block(number)[here])
            numbers.append(start + here)
            left -= count
        return sp.csr_array(sp.vstack(pieces, format="csr")), np.concatenate(numbers)

    def _check_file(self, part: str, length: int) -> None:
        """Refuse a file that is missing, of another size, or whose header promises something else."""
        path, kind = self.folder / f"{part}.npy", TYPES[part]
        if path.is_symlink() or not path.is_file():
            raise InvalidData(f"{path} is missing: {WAY_OUT}.")
        size, needed = path.stat().st_size, HEADER + length * np.dtype(kind).itemsize
        if size != needed:
            trouble = "cut short" if size < needed else "too long"
            raise InvalidData(f"{path} is {trouble}, {needed} bytes are needed, got {size}: {WAY_OUT}.")
        with path.open("rb") as handle:
            if handle.read(HEADER) != header(kind, length):
                raise InvalidData(f"{path} must hold {length} numbers of type {kind}: {WAY_OUT}.")

    def _mapped(self, part: str, start: int, stop: int) -> np.ndarray:
        """Return some numbers of a file, mapped into memory as long as they are used."""
        path, kind = self.folder / f"{part}.npy", np.dtype(TYPES[part])
        if start == stop:
            return np.zeros(0, dtype=kind)
        try:
            offset = HEADER + int(start) * kind.itemsize
            return np.memmap(path, kind, "r", offset, (int(stop - start),)).view(np.ndarray)
        except (OSError, ValueError) as error:  # it was complete when the folder was opened
            raise InvalidData(f"{path} cannot be read any more ({shown(error)}): {WAY_OUT}.") from None

    def _check_block(
        self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, first: int, last: int
    ) -> None:
        """Refuse the contents of a block that are not those of canonical compressed rows."""

        def refuse(part: str, words: str) -> InvalidData:
            return InvalidData(f"{self.folder / part}.npy {words}: {WAY_OUT}.")

        if indptr[0] != first or indptr[-1] != last or (np.diff(indptr) < 0).any():
            raise refuse("indptr", f"must count up from {first} to {last} in a block")
        if indices.size and not (indices.min() >= 0 and indices.max() < self.shape[1]):
            raise refuse("indices", f"must hold columns from 0 to {self.shape[1] - 1}, got others")
        rising, starts = np.diff(indices) > 0, indptr[1:-1] - first
        rising[starts[(starts > 0) & (starts < indices.size)] - 1] = True
        if not rising.all():
            raise refuse("indices", "must rise within each row")
        # One comparison with the largest value finds NaN too. Canonical form stores no zeros.
        if data.size and not (np.abs(data).max() <= self.largest and np.all(data != 0)):
            raise refuse("data", f"must hold finite numbers that are not 0, of at most {self.largest!r}")


def header(kind: str, length: int) -> bytes:
    """Return the first `HEADER` bytes of an NPY file with a vector of this type and length."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}".ljust(HEADER - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def checksum(*arrays: np.ndarray) -> str:
    """Return the SHA-256 of the bytes of some arrays, one after the other."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.data)
    return digest.hexdigest()


@lru_cache(maxsize=8)
def _opened(folder: str, mark: str) -> Shards:
    """Open a folder that another process has pickled; refuse other contents than it had there."""
    shards = Shards(folder)
    if shards._mark != mark:
        raise InvalidData(
            f"{folder} must hold the same shards for every worker, here it holds others: copy it."
        )
    return shards
