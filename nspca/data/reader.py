"""The entry point for files: `read` returns a `Dataset` from a file of any format.

The format is found from the first bytes. The name of the file plays no part, except for HDF5 and H5AD files.
"""

import stat
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from nspca.data import limits
from nspca.data.annotation import annotate, group_by_prefix, read_annotation, split_label
from nspca.data.arrays import plain_numbers, read_npz
from nspca.data.dataset import Dataset
from nspca.data.formats import FOREIGN, ONE_IMAGE, DocwordReader, MatrixMarketReader, Source, open_reader
from nspca.data.formats.docword import find_vocabulary, read_vocabulary, vocabulary_words
from nspca.data.formats.excel import is_cut_workbook, is_workbook, sheet_as_csv
from nspca.data.formats.h5ad import SUFFIX, read_h5ad
from nspca.data.formats.hdf5 import SUFFIXES as HDF5
from nspca.data.formats.images import EXTENSIONS, read_images
from nspca.data.formats.matrixmarket import DENSE
from nspca.data.formats.npz import NpyReader, is_array, unrolled
from nspca.data.formats.parquet import ParquetReader
from nspca.data.formats.strings import is_hidden, natural_order, short_name
from nspca.data.layout import ENOUGH_ROWS, Layout, as_utf8, find_layout, stripped
from nspca.data.missing import check_way, settle
from nspca.data.names import frozen, numbered, pixel_names
from nspca.data.read_options import ReadOptions
from nspca.data.table import read_table, read_text_table
from nspca.errors import InvalidData, MissingValues, NotNumbers
from nspca.progress import Event, Report, silent
from nspca.validation.archive import open_zip, unzip_member


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
    annotation: str | Path | bytes | BinaryIO | None = None,
    image_size: int | None = None,
    report: Report | None = None,
) -> Dataset:
    """Read a table, an array, a matrix, word counts or images.

    Parameters
    ----------
    path_or_buffer : path, bytes or open binary file
        CSV or TSV, Excel (the first sheet that is not empty), Parquet, NPZ or NPY, Matrix Market or UCI
        docword, all of them also gzipped. A ZIP or folder of PGM, PNG, JPEG or WebP images of one size, or
        with one file of another format. A path to an HDF5 file (needs h5py) or to an H5AD file (needs
        anndata; `label_column` names a column of `obs`, the other options do not apply).
    name : str, optional
        Name of the data set; by default that of the file.
    header : "auto", True or False
        Whether the first line of a table holds names.
    delimiter : str, optional
        One character; detected when not given.
    id_column, label_column : str or int, optional
        The columns (by name or 0-based position) with sample names and groups. With `features_in_rows`,
        `id_column` is the column of feature names (by default the first) and `label_column` is a row, by
        name or by its position below the header. `label_column` may also be a column of `annotation`, or
        "beginning of the names" for sample names that form groups, such as ALL_1 and AML_2.
    features_in_rows : bool
        Transpose the table: its first column holds feature names, and its header sample names.
    missing : "refuse", "samples", "features" or "mean"
        Treatment of missing values: refuse the file, leave out the samples or the features that have some,
        or fill in the mean of the feature.
    decimal : "," or ".", optional
        The decimal sign of a text table; detected when not given. Numbers such as 1,234 are refused when
        the comma may be a thousands separator; giving `decimal` settles that.
    vocabulary : path, bytes or open binary file, optional
        The words of a docword file; ``vocab.x.txt`` beside ``docword.x.txt`` is found without it.
    annotation : path, bytes or open binary file, optional
        A second table about the samples, joined by their names; see `nspca.data.annotate`.
    image_size : int, optional
        Convert images of any size and colour to grey squares with this many pixels a side. Unreadable files
        are then left out, and `notes` names them.
    report : callable, optional
        Gets progress events and may raise `Cancelled`.

    Returns
    -------
    Dataset
        Its `source` is "user". `notes` lists the changes that reading made; `label_columns` and
        `label_candidates` are columns that can be the labels.

    Raises
    ------
    InvalidData
        When the file cannot be read. `MissingValues`, a subclass, when the option `missing` can help.
    """
    report = report or silent
    name = name or name_of(path_or_buffer)
    words = None if vocabulary is None else limits.plain_bytes(limits.bounded_bytes(vocabulary))
    table = None if annotation is None else read_annotation(annotation)
    label, label_column = split_label(label_column, table)
    options = ReadOptions(
        header, delimiter, id_column, label_column, features_in_rows, check_way(missing), decimal, image_size
    )
    report(Event("reading", message=name))
    data = _read_source(path_or_buffer, name, words, options, report)
    return annotate(group_by_prefix(data), table, label)


def _read_source(
    path_or_buffer: str | Path | bytes | BinaryIO,
    name: str,
    words: bytes | None,
    options: ReadOptions,
    report: Report,
) -> Dataset:
    """Read a folder, a file by its path, or bytes; `words` is the content of a vocabulary file, if any."""
    path = Path(path_or_buffer) if isinstance(path_or_buffer, str | Path) else None
    if path is not None:
        if path.is_dir():
            return _read_files(limits.list_files(path, limits.bounded_bytes), name, words, options, report)
        if path.name.lower().endswith(SUFFIX):
            return read_h5ad(path, name, options.label_column)
        if path.name.lower().endswith(HDF5):
            return _read_hdf5(path, name, options)
    raw = limits.bounded_bytes(path_or_buffer)
    if words is None and path is not None:
        beside = find_vocabulary(path)
        words = None if beside is None else read_vocabulary(beside)
    return _read_bytes(raw, name, words, options, report, len(raw))


def _read_hdf5(path: Path, name: str, options: ReadOptions) -> Dataset:
    """Read the table of an HDF5 file into memory."""
    reader = open_reader(Source(path), options)
    shape = reader.shape
    if shape.sparse:
        limits.check_sparse(shape.rows, shape.columns, shape.entries)
    else:
        limits.check_dense(shape.rows, shape.columns)
    (block,) = reader.blocks()
    data = _from_array(block.X, name, options)
    names = reader.feature_names()
    data = data if names is None else replace(data, feature_names=tuple(names))
    return _turned(replace(data, notes=(*data.notes, *reader.notes)), options)


def read_layout(path_or_buffer: str | Path | bytes | BinaryIO) -> Layout | None:
    """Return the layout of a table with named columns; None for a file of another kind.

    Pages show the layout when they ask for id and label columns.
    """
    given = limits.bounded_bytes(path_or_buffer)
    raw = limits.plain_bytes(given)
    if ParquetReader.matches(raw):
        return ParquetReader(Source(raw=raw, packed=len(given))).layout
    if raw.startswith(b"PK\x03\x04") and is_workbook(open_zip(raw)[1]):
        return find_layout(stripped(sheet_as_csv(raw, ENOUGH_ROWS, packed=len(given))[0]), delimiter=",")
    if (
        raw.startswith((b"PK\x03\x04", b"\x93NUMPY", *FOREIGN))
        or ONE_IMAGE.match(raw)
        or DocwordReader.matches(raw)
        or MatrixMarketReader.matches(raw)
    ):
        return None
    return find_layout(stripped(as_utf8(raw)[0]))


def could_be_read(raw: bytes, error: InvalidData, layout: Layout) -> bool:
    """Tell whether a table that `read` refused with `error` can be read with other options.

    The options tried are id and label columns, features in rows, and a treatment of missing values.
    """
    if isinstance(error, MissingValues):
        return True
    ways: list[dict[str, Any]] = []
    if isinstance(error, NotNumbers):
        ways.append({"label_column": error.column})
    if layout.label_rows:
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


def _read_bytes(
    raw: bytes, name: str, words: bytes | None, options: ReadOptions, report: Report, packed: int
) -> Dataset:
    """Read one file from its bytes, by the reader of its format.

    `words` is the content of a vocabulary file, if any. `packed` is the size in bytes of the file as the user
    gave it.
    """
    raw = limits.plain_bytes(raw, packed)
    if raw.startswith(b"PK\x03\x04"):
        return _read_zip(raw, name, words, options, report, packed)
    if raw.startswith(b"PK\x05\x06"):
        raise InvalidData("The ZIP file is empty: pack the files again.")
    if ParquetReader.matches(raw):
        return read_table(ParquetReader(Source(raw=raw, packed=packed), options, report=report), name)
    if NpyReader.matches(raw):
        reader = NpyReader(Source(raw=raw, packed=packed), options)
        (block,) = reader.blocks()
        data = _from_array(plain_numbers(block.X, packed), name, options)
        return _turned(replace(data, notes=(*reader.notes, *data.notes)), options)
    for magic, what in FOREIGN.items():
        if raw.startswith(magic):
            raise InvalidData(f"This is {what}: save the table as CSV or as NPZ.")
    if ONE_IMAGE.match(raw):
        raise InvalidData(
            "One image is one sample, and at least two are needed: give a ZIP or a folder of images of one "
            "size."
        )
    if MatrixMarketReader.matches(raw):
        X = _read_matrix(MatrixMarketReader(Source(raw=raw), options, report=report))
        return _turned(_from_array(X, name, options), options)
    if DocwordReader.matches(raw):
        return _turned(
            _read_counts(DocwordReader(Source(raw=raw), options, report=report), name, words), options
        )
    return read_text_table(raw, name, options, packed=packed)


def _read_counts(reader: DocwordReader, name: str, words: bytes | None) -> Dataset:
    """Return word counts as a Dataset; `words` is the vocabulary file that names the features, if any."""
    shape = reader.shape
    limits.check_sparse(shape.rows, shape.columns, shape.entries)
    (block,) = reader.blocks()
    names, notes = vocabulary_words(words, shape.columns)
    return Dataset(name, block.X, names, numbered("document", shape.rows), kind="words", notes=notes)


def _read_matrix(reader: MatrixMarketReader) -> Any:
    """Return the matrix of a Matrix Market file.

    A small sparse one that is symmetric is returned dense, since it may be a covariance.
    """
    shape = reader.shape
    if reader.is_dense:
        limits.check_dense(shape.rows, shape.columns)
    else:
        limits.check_sparse(shape.rows, shape.columns, shape.entries)
    reader.probe()
    (block,) = reader.blocks()
    return block.X.toarray() if shape.sparse and reader.is_symmetric and shape.rows <= DENSE else block.X


def _turned(data: Dataset, options: ReadOptions) -> Dataset:
    """Return a data set, transposed if the options say that features are in rows."""
    return data.transposed() if options.features_in_rows else data


def _from_array(X: Any, name: str, options: ReadOptions) -> Dataset:
    """Return a matrix without names (m, n), or a stack of images (m, rows, columns), as a Dataset."""
    shape = X.shape[1:] if X.ndim == 3 else None
    X = unrolled(X) if shape else X
    settled = settle(X, options.missing, options.features_in_rows)
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


def _read_zip(
    raw: bytes, name: str, words: bytes | None, options: ReadOptions, report: Report, packed: int
) -> Dataset:
    """Read a ZIP file: an NPZ, a workbook, images or one packed table; `packed` as in `_read_bytes`."""
    if is_cut_workbook(raw):
        raise InvalidData("The Excel workbook is damaged or cut short: save it again, or the sheet as CSV.")
    archive, members = open_zip(raw)
    if members and all(map(is_array, members)):
        return _turned(read_npz(raw, name, options, packed), options)
    if is_workbook(members):
        text, notes = sheet_as_csv(raw, decimal=options.decimal, packed=packed)
        return read_text_table(text, name, replace(options, delimiter=","), notes, packed)
    if any(info.filename == "word/document.xml" for info in members):
        raise InvalidData("This is a Word document: save it as plain text (.txt), one document in each file.")
    limits.check_archive(packed, members)
    links = [info.filename for info in members if stat.S_ISLNK(info.external_attr >> 16)]
    if links:
        raise InvalidData(
            f'The ZIP file holds the link "{short_name(links[0])}" in place of a file, and links are never '
            "followed: pack the file itself."
        )
    files = [(info.filename, partial(unzip_member, archive, info)) for info in members]
    return _read_files(files, name, words, options, report, packed)


def _read_files(
    files: limits.Files,
    name: str,
    words: bytes | None,
    options: ReadOptions,
    report: Report,
    packed: int | None = None,
) -> Dataset:
    """Read the images among the files of a folder or an archive, or else the only table (and its vocabulary).

    `packed` is the size in bytes of the archive that held the files; None for a folder.
    """
    files = sorted(
        (file for file in files if not is_hidden(file[0])), key=lambda file: natural_order(file[0])
    )
    images = [file for file in files if file[0].lower().endswith(EXTENSIONS)]
    if images:
        return read_images(images, name, report, packed, options.image_size)
    vocabularies = [read for label, read in files if "vocab" in PurePosixPath(label).name.lower()]
    others = [(label, read) for label, read in files if "vocab" not in PurePosixPath(label).name.lower()]
    if len(others) != 1:
        raise InvalidData(
            "A ZIP or folder must hold PGM, PNG, JPEG or WebP images, or one table; this one holds "
            f"{len(others)} other files."
        )
    if words is None and len(vocabularies) == 1:
        words = vocabularies[0]()
    raw = others[0][1]()
    packed = packed or len(raw)
    raw = limits.plain_bytes(raw, packed)
    if raw.startswith(b"PK\x03\x04") and is_workbook(open_zip(raw)[1]):
        return _read_zip(raw, name, words, options, report, packed)
    if raw.startswith(b"PK"):
        raise InvalidData("The ZIP or folder holds another ZIP: give that one.")
    if not raw:
        raise InvalidData(
            "The file inside is empty: a table with at least two rows and two columns is needed."
        )
    return _read_bytes(raw, name, words, options, report, packed)


def name_of(source: object) -> str:
    """Return the title of a data set from its path or open file; "upload" when there is no name."""
    given = source if isinstance(source, (str, Path)) else getattr(source, "name", "") or ""
    stem = PurePosixPath(str(given).replace("\\", "/")).name.removesuffix(".gz")
    stem = stem.rsplit(".", 1)[0] if "." in stem[1:] else stem
    return "".join(c for c in stem if c.isprintable())[:80] or "upload"
