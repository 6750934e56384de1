"""The class `Shards`: a folder of shards, opened for reading by passes over its blocks of rows.

The folder holds one matrix in canonical compressed rows (``indptr.npy``, ``indices.npy``, ``data.npy``), and
the record ``meta.json`` with its size, content digest and names.

The checker needs only the `shape` (rows, columns) and `blocks()`, which yields the rows in order as CSR
blocks, and accepts any object that has both. Solvers also need the `digest` and `largest`, and the workers of
a Dask client the length and `block`.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nspca.errors import InvalidData, shown
from nspca.presentation import drawing, phrases
from nspca.progress import Event, Report, tell
from nspca.validation.features import numbers_of

META = "meta.json"
TYPES: dict[str, np.dtype[Any]] = {
    "indptr": np.dtype("<i8"),
    "indices": np.dtype("<i4"),
    "data": np.dtype("<f8"),
}
"""The arrays of a folder and their types, as in compressed sparse rows."""
MOST_BYTES = 2**26
"""Maximum bytes of a record: about 20 for each of a million names."""
HASHED = 2**19
"""Numbers that are hashed at a time."""
SAMPLED = 8
"""Maximum number of blocks from which a sample of rows is taken."""
WAY_OUT = "make the folder again with `python -m nspca shard`"


class Record(BaseModel):
    """The content of a folder, as its ``meta.json`` says it.

    A block has `step` rows, the last one perhaps fewer. The `largest` absolute value gives the unit scale
    before the first pass. `digest` is the content hash of the table, as certificates have it. `features` are
    the names of the columns, if they have any. The name, and the notes about reading, are only ever shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    format: Literal["nspca shards"] = "nspca shards"
    version: Literal[3]
    name: str
    rows: Annotated[int, Field(ge=1, lt=2**40)]
    columns: Annotated[int, Field(ge=1, lt=2**31)]
    nonzeros: Annotated[int, Field(ge=0, lt=2**60)]
    step: Annotated[int, Field(ge=1, lt=2**40)]
    largest: Annotated[float, Field(ge=0)]
    digest: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    features: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def lengths(self) -> dict[str, int]:
        """Numbers in each of the three arrays."""
        return {"indptr": self.rows + 1, "indices": self.nonzeros, "data": self.nonzeros}

    @classmethod
    def read(cls, folder: Path) -> "Record":
        """Read and check the record of a folder; `InvalidData` when it is missing, old or wrong."""
        path = folder / META
        if path.is_symlink() or not path.is_file():
            raise InvalidData(f"A folder of shards holds a {META}, got {folder} without one: {WAY_OUT}.")
        if path.stat().st_size > MOST_BYTES:
            raise InvalidData(f"{path} has more bytes than that of any folder of shards: {WAY_OUT}.")
        try:
            record = cls.model_validate_json(path.read_bytes())
            if record.features is not None and len(record.features) != record.columns:
                raise ValueError(f"{record.columns} names are needed, got {len(record.features)}")
        except ValueError as error:
            raise InvalidData(f"{path} cannot be read ({shown(error)}): {WAY_OUT}.") from None
        return record


class Shards:
    """A folder of shards, opened for reading.

    The numbers are compared with the digest in the first pass, and each block is checked when it is first
    read. Pickling stores the path of the folder and its digest: another process opens this folder once, and
    refuses it if the digest differs.

    Parameters
    ----------
    folder : str or Path

    Attributes
    ----------
    shape : (rows, columns)
    nonzeros, nbytes : int
        Numbers other than 0, and the bytes of all numbers in the folder.
    digest : str
        Content hash of the table, as the record has it; `nspca.verify` computes its own.
    largest : float
        Largest absolute value, as the record has it.
    name, notes
        The name of the data, and notes about the file that the folder was made of.
    has_names : bool
        Whether the columns have names.

    Raises
    ------
    InvalidData
        When the record is missing or wrong, or a file is missing or is not what the record says.
    """

    source, is_covariance = "user", False
    prepared: tuple[str, ...] = ()

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self._record = record = Record.read(self.folder)
        self.digest, self.largest, self.name = record.digest, record.largest, record.name
        self.notes, self.has_names = record.notes, record.features is not None
        self.shape, self.nonzeros = (record.rows, record.columns), record.nonzeros
        self.nbytes = sum(length * TYPES[part].itemsize for part, length in record.lengths.items())
        self._offsets = {part: self._open(part, length) for part, length in record.lengths.items()}
        self._checked: set[int] = set()
        self._is_whole = False

    def __repr__(self) -> str:
        """Describe the table in two lines: its size, and where it is."""
        (rows, columns), blocks = self.shape, len(self)
        size = f"{rows} samples x {columns} features, {self.nonzeros} nonzeros"
        files = f"{blocks} block{'s' * (blocks != 1)} of rows, {self.nbytes / 1e6:.4g} MB"
        where = f"digest {self.digest[:12]}, in {phrases.short(str(self.folder))}"
        return f"Shards {phrases.short(self.name)!r}: {size}\n{files}, {where}"

    def _repr_html_(self) -> str:
        return drawing.block(repr(self))

    def __len__(self) -> int:
        return -(-self.shape[0] // self._record.step)

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        """Pickle the path and the digest; see Notes of the class."""
        return _opened, (str(self.folder.absolute()), self.digest)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns; "feature 1" and so on where they have none."""
        return self._record.features or tuple(f"feature {j}" for j in range(1, self.shape[1] + 1))

    def numbers(self, features: Sequence[int | str]) -> np.ndarray:
        """Return the sorted numbers of features given by number or by name; see `nspca.Dataset.numbers`."""
        return numbers_of(features, self.feature_names)

    def blocks(self) -> Iterator[sp.csr_array]:
        """Yield the rows in order, in blocks that are mapped from their files until the next one."""
        if not self._is_whole:
            if content_digest(self.folder, self.shape, self._offsets, tell) != self.digest:
                raise InvalidData(f"The folder {self.folder} is damaged, its digest is another: {WAY_OUT}.")
            self._is_whole = True
        for number in range(len(self)):
            tell(Event("reading", number, len(self)))
            yield self.block(number)

    def block(self, number: int) -> sp.csr_array:
        """Return one block of rows; its contents are checked the first time."""
        start = number * self._record.step
        stop = min(start + self._record.step, self.shape[0])
        indptr = self._mapped("indptr", start, stop + 1)
        first, last = int(indptr[0]), int(indptr[-1])
        try:
            if not 0 <= first <= last <= self.nonzeros or (first > 0 and start == 0):
                raise ValueError("rows outside the table")
            indices, data = (self._mapped(part, first, last) for part in ("indices", "data"))
            shape = stop - start, self.shape[1]
            block = sp.csr_array((data, indices, indptr - first), shape=shape, copy=False)
            if number not in self._checked:
                block.check_format(full_check=True)
                # One comparison with the largest value finds NaN too. Canonical form stores no zeros.
                is_small = np.abs(data).max(initial=0.0) <= self.largest
                if not (block.has_canonical_format and is_small and np.all(data != 0)):
                    raise ValueError("another form")
        except ValueError:
            raise InvalidData(
                f"Rows {start + 1} to {stop} of the folder {self.folder} are no compressed rows of finite "
                f"numbers other than 0, in order of their columns: {WAY_OUT}."
            ) from None
        self._checked.add(number)
        return block

    def sample(self, rows: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
        """Return at most `rows` random rows, of at most `SAMPLED` blocks, and their numbers from 0."""
        rng, pieces, numbers, left = np.random.default_rng(seed), [], [], rows
        chosen = np.sort(rng.permutation(len(self))[: min(SAMPLED, rows)])
        for done, number in enumerate(chosen):
            block = self.block(int(number))
            count = min(block.shape[0], -(-left // (chosen.size - done)))
            here = np.sort(rng.permutation(block.shape[0])[:count])
            pieces.append(block[here])
            numbers.append(number * self._record.step + here)
            left -= count
        return sp.csr_array(sp.vstack(pieces, format="csr")), np.concatenate(numbers)

    def _open(self, part: str, length: int) -> int:
        """Return the bytes before the numbers of a file, which is refused unless it holds what it should."""
        path, kind = self.folder / f"{part}.npy", TYPES[part]
        if path.is_symlink() or not path.is_file():  # a link may lead out of the folder
            raise InvalidData(f"{path} is missing: {WAY_OUT}.")
        if not length:
            return 0
        try:
            held: Any = np.load(path, mmap_mode="r")
        except (OSError, ValueError):  # pickled objects are refused, too
            raise InvalidData(f"{path} is damaged or cut short: {WAY_OUT}.") from None
        if (held.dtype, held.shape) != (kind, (length,)):
            raise InvalidData(f"{path} must hold {length} numbers of type {kind}: {WAY_OUT}.")
        return int(held.offset)

    def _mapped(self, part: str, start: int, stop: int) -> np.ndarray:
        """Return some numbers of a file, mapped into memory as long as they are used."""
        kind, path = TYPES[part], self.folder / f"{part}.npy"
        if start == stop:
            return np.zeros(0, dtype=kind)
        try:
            offset = self._offsets[part] + start * kind.itemsize
            return np.memmap(path, kind, "r", offset, (stop - start,)).view(np.ndarray)
        except (OSError, ValueError) as error:  # it was complete when the folder was opened
            raise InvalidData(f"{path} cannot be read any more ({shown(error)}): {WAY_OUT}.") from None


def content_digest(folder: Path, shape: tuple[int, int], offsets: dict[str, int], report: Report) -> str:
    """Return the content hash of the arrays in a folder, equal to `numbers.sparse_digest` in memory.

    It covers all indptr, then all indices, then all data, with indices as 64-bit numbers.
    """
    digest = hashlib.sha256(f"sparse {shape[0]} {shape[1]}".encode())
    for done, (part, kind) in enumerate(TYPES.items()):
        report(Event("digest", done, len(TYPES)))
        with (folder / f"{part}.npy").open("rb") as file:
            file.seek(offsets[part])
            while (numbers := np.fromfile(file, kind, HASHED)).size:
                digest.update(numbers.astype("<f8" if part == "data" else "<i8", copy=False).data)
    return digest.hexdigest()


@lru_cache(maxsize=8)
def _opened(folder: str, digest: str) -> Shards:
    """Open a folder that another process has pickled; refuse other contents than it had there."""
    shards = Shards(folder)
    if shards.digest != digest:
        raise InvalidData(
            f"{folder} must hold the same shards for every worker, here it holds others: copy it."
        )
    return shards
