"""One door for every file: what it is is decided by its first bytes, never by its name."""

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from nspca.archive import open_zip, read_npy, unzip_member
from nspca.data import limits
from nspca.data.arrays import plain_numbers, read_npz
from nspca.data.dataset import Dataset, frozen, numbered, pixel_names
from nspca.data.docword import is_docword, read_docword
from nspca.data.excel import is_cut_workbook, is_workbook, sheet_as_csv
from nspca.data.h5ad import SUFFIX, read_h5ad
from nspca.data.how import How
from nspca.data.images import EXTENSIONS, read_images, short_name
from nspca.data.look import ENOUGH_ROWS, Look, look, to_utf8
from nspca.data.matrixmarket import is_matrix_market, read_matrix_market
from nspca.data.missing import check_way, settle
from nspca.data.parquet import MAGIC as PARQUET
from nspca.data.parquet import look_at_parquet, read_parquet
from nspca.data.table import read_text_table
from nspca.errors import InvalidData, MissingValues, NotNumbers
from nspca.progress import Event, Report, silent

_FOREIGN = {
    b"\x89HDF": "an HDF5 file (.h5ad and the like), which is never opened from uploads",
    b"\xd0\xcf\x11\xe0": "an old Excel file, or one with a password",
    b"%PDF": "a PDF",
    b"MATLAB": "a MATLAB file",
    b"\x80\x04": "a pickle, which is never opened",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
}
_ONE_IMAGE = (b"\x89PNG", b"P1", b"P2", b"P3", b"P4", b"P5", b"P6")
Files = Sequence[tuple[str, Callable[[], bytes]]]


def read(
    path_or_buffer: str | Path | bytes | BinaryIO,
    *,
    name: str | None = None,
    header: str | bool = "auto",
    delimiter: str | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    features_in_rows: bool = False,
    missing: str = "refuse",
    decimal: str | None = None,
    vocabulary: str | Path | bytes | BinaryIO | None = None,
    report: Report | None = None,
) -> Dataset:
    """Read a table, an array, a matrix, word counts or images.

    Parameters
    ----------
    path_or_buffer : path, bytes or open binary file
        CSV or TSV, Excel (the first sheet that holds something), Parquet, NPZ or NPY, Matrix Market, UCI
        docword (all of them also gzipped), a ZIP or folder of PGM or PNG images of one size, or a ZIP or
        folder with one of the others. With the package anndata a path to its H5AD too; of the options
        `label_column` alone is for it, a column of the cells.
    name : str, optional
        Name of the dataset; by default the file's own.
    header : "auto", True or False
        Whether the first line of a table holds names.
    delimiter : str, optional
        One character, found by itself when not given.
    id_column, label_column : str or int, optional
        The columns (by name or 0-based position) with sample names and groups. With `features_in_rows`,
        `id_column` is the column of feature names (by default the first) and `label_column` names a row or
        its position below the header.
    features_in_rows : bool
        Transpose: the first column holds feature names, the header sample names.
    missing : "refuse", "samples", "features" or "mean"
        What is done about cells that hold nothing: refuse the file, leave out the samples or the features
        that have such cells, or put in the mean of the feature's other values.
    decimal : "," or ".", optional
        The decimal sign of a table of text, found by itself when not given. Numbers such as 1,234 are refused
        where nothing shows whether they are thousands, unless it is given.
    vocabulary : path, bytes or open binary file, optional
        The words of a docword file; ``vocab.x.txt`` beside ``docword.x.txt`` is found by itself.
    report : callable, optional
        Gets progress events and may raise `Cancelled`.

    Returns
    -------
    Dataset
        With `source` "user"; `notes` says what reading changed, `label_candidates` what could be labels.

    Raises
    ------
    InvalidData
        One sentence: what was required, what was got, the way out. Of the kind `MissingValues` when `missing`
        can mend it.
    """
    report = report or silent
    name = name or _name_of(path_or_buffer)
    words = None if vocabulary is None else _plain(limits.bounded_bytes(vocabulary))
    how = How(header, delimiter, id_column, label_column, features_in_rows, check_way(missing), decimal)
    report(Event("reading", message=name))
    if isinstance(path_or_buffer, (str, Path)) and Path(path_or_buffer).is_dir():
        return _read_files(_folder_files(Path(path_or_buffer)), name, words, how, report)
    if isinstance(path_or_buffer, (str, Path)) and str(path_or_buffer).lower().endswith(SUFFIX):
        return read_h5ad(Path(path_or_buffer), name, label_column)
    raw = limits.bounded_bytes(path_or_buffer)
    if words is None and isinstance(path_or_buffer, (str, Path)):
        words = _vocabulary_beside(Path(path_or_buffer))
    return _read_bytes(raw, name, words, how, report, len(raw))


def look_at(
    path_or_buffer: str | Path | bytes | BinaryIO,
    *,
    header: str | bool = "auto",
    delimiter: str | None = None,
    decimal: str | None = None,
) -> Look | None:
    """What a table shows (its columns, possible id and label columns), from its first lines; None when the
    file is no table of columns.
    """
    how = How(header, delimiter, decimal=decimal)
    given = limits.bounded_bytes(path_or_buffer)
    raw = _plain(given)
    if raw.startswith(PARQUET):
        return look_at_parquet(raw, len(given))
    if raw.startswith(b"PK\x03\x04") and is_workbook(open_zip(raw)[1]):
        text = sheet_as_csv(raw, ENOUGH_ROWS, how.decimal, len(given))[0]
        raw, how = text, replace(how, delimiter=",")
    elif (
        raw.startswith((b"PK\x03\x04", b"\x93NUMPY", *_ONE_IMAGE, *_FOREIGN))
        or is_docword(raw)
        or is_matrix_market(raw)
    ):
        return None
    return look(to_utf8(raw)[0], header=how.header, delimiter=how.delimiter, decimal=how.decimal)


def could_be_read(raw: bytes, error: InvalidData, look: Look) -> bool:
    """Whether a table that was refused with `error` is data once somebody says which columns hold names and
    labels, that features are in rows, or what is done about missing values.
    """
    if isinstance(error, MissingValues):
        return True
    ways: list[dict[str, Any]] = []
    if isinstance(error, NotNumbers):
        ways.append({"label_column": error.column})
    if look.label_rows:
        ways.append({"features_in_rows": True})
    for way in ways:
        try:
            read(raw, **way)
        except MissingValues:
            return True
        except NotNumbers as other:
            if "label_column" in way and "id_column" not in way:
                ways.append({**way, "id_column": other.column})
        except InvalidData:
            continue
        else:
            return True
    return False


def _read_bytes(raw: bytes, name: str, words: bytes | None, how: How, report: Report, packed: int) -> Dataset:
    """Read the bytes of one file; `packed` counts those of the file as it was given."""
    raw = _plain(raw, packed)
    if raw.startswith(b"PK\x03\x04"):
        return _read_zip(raw, name, words, how, report, packed)
    if raw.startswith(b"PK\x05\x06"):
        raise InvalidData("The ZIP file is empty: pack the files again.")
    if raw.startswith(PARQUET):
        return read_parquet(raw, name, how, packed)
    if raw.startswith(b"\x93NUMPY"):
        return _turned(_from_array(plain_numbers(read_npy(raw), packed), name, how), how)
    for magic, what in _FOREIGN.items():
        if raw.startswith(magic):
            raise InvalidData(f"This is {what}: save the table as CSV or as NPZ.")
    if raw.startswith(_ONE_IMAGE):
        raise InvalidData(
            "One image is one sample, and at least two are needed: give a ZIP or a folder of images of one "
            "size."
        )
    if is_matrix_market(raw):
        return _turned(_from_array(read_matrix_market(raw), name, how), how)
    if is_docword(raw):
        return _turned(read_docword(raw, name, words), how)
    return read_text_table(raw, name, how, packed=packed)


def _turned(data: Dataset, how: How) -> Dataset:
    return data.transposed() if how.features_in_rows else data


def _plain(raw: bytes, packed: int | None = None) -> bytes:
    return limits.gunzip(raw, packed) if raw.startswith(b"\x1f\x8b") else raw


def _from_array(X: Any, name: str, how: How) -> Dataset:
    """A matrix without names, or a stack of images."""
    shape = X.shape[1:] if X.ndim == 3 else None
    X = X.reshape(len(X), -1) if shape else X
    settled = settle(X, how.missing, how.features_in_rows)
    shape = shape if settled.columns.size == X.shape[1] else None
    features = pixel_names(shape) if shape else frozen(settled.of_columns(numbered("feature", X.shape[1])))
    samples = frozen(settled.of_rows(numbered("sample", X.shape[0])))
    return Dataset(
        name,
        settled.X,
        features,
        samples,
        image_shape=shape,
        kind="image" if shape else "table",
        notes=settled.notes,
    )


def _read_zip(raw: bytes, name: str, words: bytes | None, how: How, report: Report, packed: int) -> Dataset:
    if is_cut_workbook(raw):
        raise InvalidData("The Excel workbook is damaged or cut short: save it again, or the sheet as CSV.")
    archive, members = open_zip(raw)
    if members and all(info.filename.endswith(".npy") for info in members):
        return _turned(read_npz(raw, name, how, packed), how)
    if is_workbook(members):
        text, notes = sheet_as_csv(raw, decimal=how.decimal, packed=packed)
        return read_text_table(text, name, replace(how, delimiter=","), notes, packed)
    limits.check_archive(packed, members)
    links = [info.filename for info in members if stat.S_ISLNK(info.external_attr >> 16)]
    if links:
        raise InvalidData(
            f'The ZIP file holds the link "{short_name(links[0])}" in place of a file, and links are never '
            "followed: pack the file itself."
        )
    files = [(info.filename, partial(unzip_member, archive, info)) for info in members]
    return _read_files(files, name, words, how, report, packed)


def _folder_files(folder: Path) -> Files:
    """Files below a folder the user named; links are not followed."""
    files: list[tuple[str, Callable[[], bytes]]] = []
    for root, _, names in os.walk(folder):
        for file in names:
            path = Path(root, file)
            if not path.is_symlink():
                files.append((path.relative_to(folder).as_posix(), partial(limits.bounded_bytes, path)))
        if len(files) > limits.MAX_FILES:
            raise InvalidData(f"A folder may hold at most {limits.MAX_FILES} files: name a smaller one.")
    return files


def _read_files(
    files: Files, name: str, words: bytes | None, how: How, report: Report, packed: int | None = None
) -> Dataset:
    """Read images if there are any, otherwise the one table (and its vocabulary) among the files.

    `packed` counts the bytes of the archive that they came in; None for a folder.
    """
    files = sorted((file for file in files if not _is_hidden(file[0])), key=_natural)
    images = [file for file in files if file[0].lower().endswith(EXTENSIONS)]
    if images:
        return read_images(images, name, report, packed)
    vocabularies = [read for label, read in files if "vocab" in PurePosixPath(label).name.lower()]
    others = [(label, read) for label, read in files if "vocab" not in PurePosixPath(label).name.lower()]
    if len(others) != 1:
        raise InvalidData(
            "A ZIP or folder must hold PGM or PNG images of one size, or one table; this one holds "
            f"{len(others)} other files."
        )
    if words is None and len(vocabularies) == 1:
        words = vocabularies[0]()
    raw = others[0][1]()
    packed = packed or len(raw)
    raw = _plain(raw, packed)
    if raw.startswith(b"PK\x03\x04") and is_workbook(open_zip(raw)[1]):
        return _read_zip(raw, name, words, how, report, packed)
    if raw.startswith(b"PK"):
        raise InvalidData("The ZIP or folder holds another ZIP: give that one.")
    if not raw:
        raise InvalidData(
            "The file inside is empty: a table with at least two rows and two columns is needed."
        )
    return _read_bytes(raw, name, words, how, report, packed)


def _is_hidden(label: str) -> bool:
    parts = PurePosixPath(label.replace("\\", "/")).parts
    return any(part.startswith((".", "__MACOSX")) and part not in (".", "..") for part in parts) or parts[
        -1:
    ] == ("Thumbs.db",)


def _natural(file: tuple[str, Callable[[], bytes]]) -> list[tuple[int, int, str]]:
    """Sort key in which image10 follows image9; numbers of any length are compared, none is made."""
    parts = ((part, part.lstrip("0")) for part in re.split(r"(\d+)", file[0]))
    return [(0, len(digits), digits) if part.isdecimal() else (1, 0, part) for part, digits in parts]


def _vocabulary_beside(path: Path) -> bytes | None:
    if not path.name.startswith("docword."):
        return None
    beside = path.with_name("vocab." + path.name.removeprefix("docword.").removesuffix(".gz"))
    return limits.bounded_bytes(beside) if beside.is_file() else None


def _name_of(source: str | Path | bytes | BinaryIO) -> str:
    """A title from a file's own name; only ever shown."""
    given = source if isinstance(source, (str, Path)) else getattr(source, "name", "") or ""
    stem = PurePosixPath(str(given).replace("\\", "/")).name.removesuffix(".gz")
    stem = stem.rsplit(".", 1)[0] if "." in stem[1:] else stem
    return "".join(c for c in stem if c.isprintable())[:80] or "upload"
