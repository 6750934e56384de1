"""The class `Shards`: a folder of shards, opened for reading by passes over its blocks of rows.

The checker needs only its `shape` (rows, columns) and `blocks()`, which yields the rows in order as CSR
blocks, and accepts any object that has both. Solvers also need its `digest` and `largest`, and the workers of
a Dask client its length and `block`.
"""

import hashlib
import io
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.errors import InvalidData
from nspca.presentation import drawing, phrases
from nspca.progress import Event, tell
from nspca.shards.manifest import FEATURES, MOST_BYTES, PARTS, WAY_OUT, Content, Manifest, Shard, file_of
from nspca.validation.archive import npy_header
from nspca.validation.features import numbers_of

TYPES = {"indptr": "<i8", "indices": "<i4", "data": "<f8"}
"""The types of a shard's arrays."""
LONGEST_HEADER = 4096
"""Number of bytes at the beginning of an NPY file that hold its header."""
SAMPLED = 8
"""Maximum number of blocks from which a sample of rows is taken."""


class Shards:
    """A folder of shards, opened for reading.

    Parameters
    ----------
    folder : str or Path

    Attributes
    ----------
    shape : (rows, columns)
    nonzeros : int
    digest : str
        Content hash of the table, as the manifest has it; `nspca.verify` computes its own.
    largest : float
        Largest absolute value, as the manifest has it.
    name : str
    source, is_covariance, prepared
        As of a `nspca.Dataset` that was read and is neither a covariance nor prepared.

    Raises
    ------
    InvalidData
        When the manifest is missing or disagrees with itself, or a file is missing or has another size.
        Contents are checked when a file is first read.

    Notes
    -----
    Pickling stores the path of the folder and the checksum of its manifest. Another process opens this folder
    once, refuses it if the checksum differs, and reads it there.
    """

    source, is_covariance = "user", False
    prepared: tuple[str, ...] = ()

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.manifest = Manifest.read(self.folder)
        self._checked: set[int] = set()
        for number, shard in enumerate(self.manifest.shards):
            for part in PARTS:
                _check_size(self.folder / file_of(number, part), shard.files[part])
        if self.manifest.features is not None:
            _check_size(self.folder / FEATURES, self.manifest.features)

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
        return len(self.manifest.shards)

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        """Pickle the path and the checksum of the manifest; see Notes of the class."""
        return _opened, (str(self.folder.absolute()), self._mark)

    @cached_property
    def _mark(self) -> str:
        """Checksum of the manifest, by which two processes tell that they read equal files."""
        return hashlib.sha256(repr(self.manifest).encode()).hexdigest()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.manifest.rows, self.manifest.columns

    @property
    def nonzeros(self) -> int:
        """Stored entries of all blocks."""
        return self.manifest.nonzeros

    @property
    def digest(self) -> str:
        """Content hash of the table, as the manifest has it."""
        return self.manifest.digest

    @property
    def largest(self) -> float:
        """Largest absolute value, as the manifest has it."""
        return float(self.manifest.largest)

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.manifest.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the file that the folder was made of."""
        return self.manifest.notes

    @property
    def nbytes(self) -> int:
        """Bytes of the files of all blocks."""
        return sum(content.bytes for shard in self.manifest.shards for content in shard.files.values())

    @property
    def longest(self) -> int:
        """The number of rows of the longest block."""
        return max(shard.rows for shard in self.manifest.shards)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns; "feature 1" and so on where they have none."""
        content, columns = self.manifest.features, self.shape[1]
        if content is None:
            return tuple(f"feature {j}" for j in range(1, columns + 1))
        path = self.folder / FEATURES
        if content.bytes > max(MOST_BYTES, 1000 * columns):
            raise InvalidData(f"{path} is too long for {columns} names: {WAY_OUT}.")
        raw = path.read_bytes()
        if hashlib.sha256(raw).hexdigest() != content.sha256:
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
            For a file whose content is not what the manifest says, or no block of rows.
        """
        for number in range(len(self)):
            tell(Event("reading", number, len(self)))
            yield self.block(number)

    def block(self, number: int) -> sp.csr_array:
        """Return one block of rows; its contents are checked the first time."""
        shard = self.manifest.shards[number]
        lengths = {"indptr": shard.rows + 1, "indices": shard.nonzeros, "data": shard.nonzeros}
        new, parts = number not in self._checked, {}
        for part in PARTS:
            path = self.folder / file_of(number, part)
            parts[part] = _array(path, shard.files[part], part, lengths[part], new)
        if new:
            self._check(number, shard, **parts)
            self._checked.add(number)
        shape = shard.rows, self.shape[1]
        return sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape, copy=False)

    def sample(self, rows: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
        """Return at most `rows` random rows, of at most `SAMPLED` blocks, and their numbers from 0."""
        rng, shards = np.random.default_rng(seed), self.manifest.shards
        starts = np.cumsum([0, *(shard.rows for shard in shards)])
        chosen = np.sort(rng.permutation(len(shards))[: min(SAMPLED, rows)])
        pieces, numbers, left = [], [], rows
        for done, number in enumerate(chosen):
            count = min(shards[number].rows, -(-left // (chosen.size - done)))
            here = np.sort(rng.permutation(shards[number].rows)[:count])
            pieces.append(self.block(number)[here])
            numbers.append(starts[number] + here)
            left -= count
        return sp.csr_array(sp.vstack(pieces, format="csr")), np.concatenate(numbers)

    def _check(
        self, number: int, shard: Shard, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray
    ) -> None:
        """Refuse the contents of a block that are not those of canonical compressed rows."""

        def refuse(part: str, words: str) -> InvalidData:
            """Return the error for the file of one part."""
            return InvalidData(f"{self.folder / file_of(number, part)} {words}: {WAY_OUT}.")

        if indptr[0] != 0 or indptr[-1] != shard.nonzeros or (np.diff(indptr) < 0).any():
            raise refuse("indptr", f"must count up from 0 to {shard.nonzeros}")
        if indices.size and not (indices.min() >= 0 and indices.max() < self.shape[1]):
            raise refuse("indices", f"must hold columns from 0 to {self.shape[1] - 1}, got others")
        rising = np.diff(indices) > 0
        starts = indptr[1:-1]
        rising[starts[(starts > 0) & (starts < indices.size)] - 1] = True
        if not rising.all():
            row = int(np.searchsorted(indptr, np.argmin(rising), side="right"))
            raise refuse("indices", f"must rise within a row, which those of row {row} do not")
        # One comparison with the largest value finds NaN too. Canonical form stores no zeros.
        if data.size and not (np.abs(data).max() <= self.largest and np.all(data != 0)):
            words = f"must hold finite numbers that are not 0, of at most {self.largest!r}"
            raise refuse("data", words)


@lru_cache(maxsize=8)
def _opened(folder: str, mark: str) -> Shards:
    """Open a folder that another process has pickled; refuse other contents than it had there."""
    shards = Shards(folder)
    if shards._mark != mark:
        raise InvalidData(
            f"{folder} must hold the same shards for every worker, here it holds others: copy it."
        )
    return shards


def _check_size(path: Path, content: Content) -> None:
    """Refuse a file that is missing, or whose size is not that in the manifest."""
    if path.is_symlink() or not path.is_file():
        raise InvalidData(f"{path} is missing: {WAY_OUT}.")
    size = path.stat().st_size
    if size != content.bytes:
        trouble = "cut short" if size < content.bytes else "too long"
        raise InvalidData(f"{path} is {trouble}, {content.bytes} bytes are needed, got {size}: {WAY_OUT}.")


def _array(path: Path, content: Content, part: str, length: int, check: bool) -> Any:
    """Return an array of a shard, checked for type and length and mapped into memory."""
    _check_size(path, content)
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    if check and hashlib.sha256(raw.data).hexdigest() != content.sha256:
        raise InvalidData(f"{path} is damaged, its checksum is another one: {WAY_OUT}.")
    stream = io.BytesIO(raw[:LONGEST_HEADER].tobytes())
    shape, dtype = npy_header(stream)
    held = (raw.size - stream.tell()) // np.dtype(TYPES[part]).itemsize
    if dtype.str != TYPES[part] or shape != (length,) or held != length:
        words = f"must hold {length} numbers of type {TYPES[part]}, got {shape} of {dtype}"
        raise InvalidData(f"{path} {words}: {WAY_OUT}.")
    return raw[stream.tell() :].view(TYPES[part])
