"""From a path or bytes to the reader of the format: gzip and ZIP are opened, and formats told apart.

`open_source` returns the `Source`, `read_source` its `Dataset`, and `open_reader` a `Reader` of a file on
disk.
"""

import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.annotation import NoAnnotation, annotate, read_annotation, split_label
from nspca.data.dataset import Dataset
from nspca.data.encodings import as_utf8
from nspca.data.findings import as_findings
from nspca.data.formats import FORMATS
from nspca.data.formats.base import DEFAULT, Format, Reader, Source, Strings, read_matrix
from nspca.data.formats.delimited import DelimitedReader, is_plain_text, read_converted
from nspca.data.formats.docword import find_vocabulary, read_vocabulary
from nspca.data.formats.excel import is_cut_workbook, is_spreadsheet, sheet_as_csv
from nspca.data.formats.hdf5 import MAGIC as HDF5
from nspca.data.formats.strings import HEAD, find_table, is_aside, short_name, visible
from nspca.data.names import quote_names
from nspca.data.numerals import is_number
from nspca.data.options import ReadOptions
from nspca.data.roles import NO_LABEL
from nspca.errors import InvalidData, Way
from nspca.progress import Report, silent
from nspca.validation.archive import open_zip, unzip_member

ZIP, EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"


def open_source(
    source: str | Path | bytes | BinaryIO, title: str = "upload", vocabulary: bytes | None = None
) -> Source:
    """Return a source for reading into memory: unpacked bytes, the files of a ZIP or folder, or a path.

    An HDF5 file and a large table of plain text stay on the disk until they are parsed.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    if path is not None and path.is_dir():
        files = limits.list_files(path, limits.bounded_bytes)
        return Source(path, name=path.name, files=visible(files), title=title, vocabulary=vocabulary)
    if path is not None:
        limits.require_file(path)
        if Source(path).first().startswith(HDF5):
            return Source(path, name=path.name, title=title, vocabulary=vocabulary)
        streamed = Source(path, name=path.name, title=title)
        if is_plain_text(path) and find_format(streamed).reader is DelimitedReader:
            return streamed
        beside = None if vocabulary is not None else find_vocabulary(path)
        vocabulary = vocabulary if beside is None else read_vocabulary(beside)
    name = path.name if path is not None else str(getattr(source, "name", "") or "")
    raw = limits.bounded_bytes(source)
    return from_bytes(Source(raw=raw, packed=len(raw), name=name, title=title, vocabulary=vocabulary))


def from_bytes(source: Source) -> Source:
    """Return a source with its gzip unpacked and its ZIP opened; `packed` has the size as it was given."""
    raw = limits.plain_bytes(source.raw, source.packed)
    if not raw:
        raise InvalidData("The file inside is empty: a table has at least two rows and two columns.")
    if raw.startswith(EMPTY_ZIP):
        raise InvalidData("The ZIP file is empty: pack the files again.")
    if is_cut_workbook(raw):
        raise InvalidData("The Excel workbook is damaged or cut short: save it again, or the sheet as CSV.")
    if not raw.startswith(ZIP):
        return replace(source, raw=raw, files=None)
    try:
        archive, members = open_zip(raw)
    except InvalidData:
        if not source.name.lower().endswith(".docx"):
            raise
        raise InvalidData("The Word document is damaged or cut short: save it again.") from None
    limits.check_archive(source.packed, members)
    links = [info.filename for info in members if stat.S_ISLNK(info.external_attr >> 16)]
    if links:
        raise InvalidData(
            f'The ZIP file holds the link "{short_name(links[0])}" in place of a file, and links are never '
            "followed: pack the file itself."
        )
    files = [(info.filename, partial(unzip_member, archive, info)) for info in members]
    return replace(source, raw=raw, files=files)


def find_format(source: Source) -> Format:
    """Return the format of a source, told by its first bytes or by its files; refuse one that is not read."""
    found = next(one for one in FORMATS if one.matches(source))
    if found.refused:
        raise InvalidData(f"This is {found.name}: {found.refused}.")
    return found


def read_source(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the data of a source, by its format, with the labels that the file itself brings."""
    data = _read_format(source, options, report)
    if source.path is None or source.path.is_file():
        X: Any = data.X
        held = 12 * X.nnz if sp.issparse(X) else X.nbytes
        limits.check_growth(held, source.given_bytes, "packed", "save the table as CSV, or without packing")
    return data


def _read_format(source: Source, options: ReadOptions, report: Report) -> Dataset:
    found = find_format(source)
    if found.convert is not None:
        converted = found.convert(source, options)
        if converted.annotation is not None and options.features_in_rows is False:
            said = "What the file says of its columns was left out, since they are taken as features."
            converted = replace(converted, annotation=None, findings=(*converted.findings, said))
        source.converted.append(converted)
        return _annotated(
            lambda how: read_converted(source, converted, how, report), converted.annotation, options
        )
    if found.read is not None:
        labels = None if found.labels is None else found.labels(source)
        if labels is None:
            return found.read(source, options, report)
        return _with_labels(found.read, labels, source, options, report)
    if found.reader is not None:
        return read_matrix(found.reader(source, options, report=report))
    named = [one for one in source.files or () if options.sheet in (one[0], short_name(one[0]))]
    if named:
        source, options = replace(source, files=named), options.but(sheet=None)
    inner, beside, findings = choose_table(source)
    try:
        table = None if beside is None else read_annotation(beside[1])
        data = _annotated(
            lambda how: read_source(replace(inner, annotation=table or source.annotation), how, report),
            table,
            options,
        )
    except NoAnnotation as error:
        if beside is None:
            raise
        raise InvalidData(
            f'The files are two tables, "{short_name(inner.name)}" and "{short_name(beside[0])}", that name '
            f"no sample in common ({str(error).rstrip('.')}): give one, and the other as annotation if it is "
            "about the samples.",
            _ways_to_choose([inner.name, beside[0]]),
        ) from None
    return replace(data, findings=(*as_findings(findings), *data.findings))


def _annotated(
    read: Callable[[ReadOptions], Dataset], annotation: Strings | None, options: ReadOptions
) -> Dataset:
    """Return what `read` returns, with the columns of an annotation that is part of the file."""
    label, own = split_label(options.label_column, annotation)
    data = read(options.but(label_column=own))
    return data if annotation is None else annotate(data, annotation, label)


def _with_labels(
    read: Callable[[Source, ReadOptions, Report], Dataset],
    beside: tuple[str, Callable[[], bytes]],
    source: Source,
    options: ReadOptions,
    report: Report,
) -> Dataset:
    """Return what `read` returns, with the labels of the table beside it, or a finding that it has none."""
    try:
        table = read_annotation(beside[1]())
        data = _annotated(lambda how: read(source, how, report), table, options)
        if data.labels is not None and 2 * np.sum(data.labels == NO_LABEL) >= len(data.labels):
            raise InvalidData("it names half of them at most.")
        said = f'The labels are those of "{short_name(beside[0])}".'
    except InvalidData as error:
        data = read(source, options, report)
        said = f'"{short_name(beside[0])}" was not taken for labels: {error}'
    return data.noting(said)


def choose_table(source: Source) -> tuple[Source, tuple[str, bytes] | None, tuple[str, ...]]:
    """Return the table among the files of a ZIP or folder, one about its samples, and what was decided.

    A vocabulary of word counts stays with its table.
    """
    assert source.files is not None
    files = visible(source.files)
    words = [read for name, read in files if _is_vocabulary(name)]
    (name, raw), beside, aside = _choose_files([one for one in files if not _is_vocabulary(one[0])])
    vocabulary = source.vocabulary or (words[0]() if len(words) == 1 else None)
    inner = replace(
        source, path=None, raw=raw, packed=source.packed or len(raw), name=name, vocabulary=vocabulary
    )
    inner = from_bytes(inner)
    if inner.files is not None and find_format(inner).convert is None:
        raise InvalidData("The ZIP or folder holds another ZIP: give that one.")
    findings: tuple[str, ...] = ()
    if beside is not None:
        about = short_name(beside[0])
        findings += (f'The table is "{short_name(name)}"; "{about}" is about its samples, and was joined.',)
    if aside:
        findings += (f"Files that are no tables were left aside: {quote_names(map(short_name, aside))}.",)
    return inner, beside, findings


def _choose_files(files: limits.Files) -> tuple[tuple[str, bytes], tuple[str, bytes] | None, list[str]]:
    """Return the table among files, the table about its samples if there is one, and what is neither.

    Of two tables, the one with more numbers is the table. Each is a name and its bytes, unpacked.
    """
    aside = [name for name, _ in files if len(files) > 1 and is_aside(name)]
    kept = [(name, read) for name, read in files if name not in aside] or list(files)
    if not 1 <= len(kept) <= 2:
        named = (
            f", got {quote_names(short_name(name) for name, _ in kept)}"
            if kept
            else ", and this one is empty"
        )
        raise InvalidData(
            "A ZIP or folder must hold images of one size, one table, or a table and a table about its "
            f"samples{named}: give one of them (and another as annotation).",
            _ways_to_choose([name for name, _ in kept]),
        )
    found = sorted(((name, read()) for name, read in kept), key=lambda one: -_share_of_numbers(one[1]))
    headers = {raw[: max(raw.find(b"\n"), 0)] for _, raw in found}
    if len(found) > len(headers) and b"" not in headers:
        names = quote_names(short_name(name) for name, _ in found)
        ways = _ways_to_choose([name for name, _ in found])
        raise InvalidData(f"The files are two tables of the same columns, {names}: give one of them.", ways)
    return found[0], found[1] if len(found) > 1 else None, aside if len(kept) < len(files) else []


def _ways_to_choose(names: Sequence[str]) -> tuple[Way, ...]:
    return tuple(Way("sheet", name, f"Read “{short_name(name)}”") for name in names[:5])


def _share_of_numbers(raw: bytes) -> float:
    """Return the share of numbers among the first cells of a table; 1 for a file that is no text."""
    try:
        raw = limits.plain_bytes(raw)
        text = sheet_as_csv(raw, 50, least=1)[0] if is_spreadsheet(raw) else as_utf8(raw[:HEAD])[0]
    except InvalidData:
        return 1.0
    layout = find_table(text)
    cells = [cell for row in layout.rows[1:] for cell in row] if layout is not None else []
    return sum(is_number(cell, ".") for cell in cells) / max(len(cells), 1)


def _is_vocabulary(name: str) -> bool:
    return "vocab" in PurePosixPath(name).name.lower()


def open_reader(source: Source, options: ReadOptions = DEFAULT, *, report: Report = silent) -> Reader:
    """Return the reader for a file on disk, whose rows are read block by block."""
    if source.path is not None:
        limits.require_file(source.path)
    first = source.first()
    if not first:
        raise InvalidData(f"{source.called} is empty: a table has at least two rows and two columns.")
    if source.is_packed and first.startswith((ZIP, EMPTY_ZIP, HDF5)):
        raise InvalidData(f"{source.called} is packed, and its rows cannot be read one by one: unpack it.")
    found = next(one for one in FORMATS if one.matches(_listed(source)))
    if found.reader is None:
        raise InvalidData(
            f"{source.called} must be a docword, Matrix Market, Parquet, CSV, NPZ, NPY or HDF5 file, got "
            f"{found.name}: convert it, or save the table as CSV."
        )
    return found.reader(source, options, on_disk=True, report=report)


def _listed(source: Source) -> Source:
    """Return a source with the names of the files of its ZIP, which are not read."""
    from nspca.data.formats.npz import list_members

    if not source.first().startswith(ZIP):
        return source
    members = list_members(source)[1]
    return replace(source, files=[(info.filename, partial(bytes)) for info in members])
