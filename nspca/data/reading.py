"""The entry points: `read` returns a `Dataset` from a file of any format, `read_text` word counts of texts.

Bytes become a `Source` (`containers`), a format converts or reads it (`formats`), a text table gets its
dialect and cells (`dialect`, `cells`), its columns get roles (`roles`), and the `Dataset` gets its findings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.annotation import annotate, group_by_prefix, read_annotation, split_label
from nspca.data.arrays import MOST_TEXT
from nspca.data.containers import open_source, read_source
from nspca.data.counting import count_documents
from nspca.data.dataset import Dataset
from nspca.data.dialect import Layout
from nspca.data.findings import Finding, as_findings
from nspca.data.formats.base import Source
from nspca.data.formats.documents import (
    MOST_BYTES,
    find_documents,
    from_strings,
    read_documents,
    read_files,
    shortened,
)
from nspca.data.names import frozen, short, were
from nspca.data.options import ReadOptions, TableOptions, TextOptions, keywords
from nspca.data.roles import find_column
from nspca.data.spectra import as_spectra
from nspca.data.suspicions import suspicions
from nspca.errors import InvalidData
from nspca.progress import Event, Report, silent
from nspca.validation.archive import mib


def read(
    path_or_buffer: str | Path | bytes | BinaryIO,
    *,
    name: str | None = None,
    vocabulary: str | Path | bytes | BinaryIO | None = None,
    annotation: str | Path | bytes | BinaryIO | None = None,
    report: Report | None = None,
    **options: Any,
) -> Dataset:
    """Read a table, an array, a matrix, word counts or images.

    Parameters
    ----------
    path_or_buffer : path, bytes or open binary file
        A file of any format of docs/files.md, also gzipped or in a ZIP, or a folder of images or with one
        table. HDF5 files are opened by their path alone.
    name : str, optional
        Name of the data set; by default that of the file.
    vocabulary : path, bytes or open binary file, optional
        The words of a docword file; ``vocab.x.txt`` beside ``docword.x.txt`` is found without it.
    annotation : path, bytes or open binary file, optional
        A second table about the samples, joined by their names; see `nspca.data.annotate`.
    report : callable, optional
        Gets progress events and may raise `Cancelled`.
    **options

    Returns
    -------
    Dataset
        Its `source` is "user". `findings` lists what reading decided and suspects, each with the option
        that turns it; `label_columns` are columns that can be the labels.

    Raises
    ------
    InvalidData
        When the file cannot be read; `ways` are the options that help.
    InvalidOption
        For an option outside its range.
    """
    given = ReadOptions(**dict(TableOptions(**options)))
    title = name or name_of(path_or_buffer)
    words = None if vocabulary is None else limits.plain_bytes(limits.bounded_bytes(vocabulary))
    source = open_source(path_or_buffer, title, words)
    return read_opened(source, given, annotation, report or silent)


keywords(read, TableOptions)


def read_opened(
    source: Source,
    options: ReadOptions,
    annotation: str | Path | bytes | BinaryIO | None = None,
    report: Report = silent,
) -> Dataset:
    """Return the data of an opened source, labelled, with its findings and the options that were used."""
    table = None if annotation is None else read_annotation(annotation)
    label, own = split_label(options.label_column, table)
    how = options.but(label_column=own)
    report(Event("reading", message=source.title))
    try:
        data = read_source(replace(source, annotation=table), how, report)
    except InvalidData as error:
        if type(error) is not InvalidData or source.path is not None or not find_documents(source):
            raise
        texts = "the file holds texts, whose words nspca.read_text (--text) counts"
        raise InvalidData(f"{error.message.removesuffix('.')}; {texts}.", error.ways) from None
    data = annotate(group_by_prefix(data), table, label)
    if options.weight_column is not None:
        data = weighted(data, options.weight_column)
    wanted = data.options.get("spectra") if options.spectra is None else options.spectra
    data = as_spectra(data, wanted)
    if options.drop_constant and (constant := data.constant_columns()).size:
        data = data.without(constant.tolist())
    layout = source.layouts[-1] if source.layouts else None
    findings = (*data.findings, *suspicions(data))
    return replace(data, findings=findings, options=used_options(options, layout))


def read_text(
    source: str | Path | bytes | BinaryIO | Sequence[str],
    *,
    name: str | None = None,
    annotation: str | Path | bytes | BinaryIO | None = None,
    report: Report | None = None,
    **options: Any,
) -> Dataset:
    """Return the word counts of documents as a data set.

    Parameters
    ----------
    source : path, bytes, open binary file, or sequence of str
        A folder or a ZIP of .txt files, a CSV or Excel table with a column of texts, a text file with a
        document in every line or paragraph (all of them also gzipped), or the texts themselves.
    name : str, optional
        Name of the data set; by default that of the file.
    annotation : path, bytes or open binary file, optional
        A table with one row per document, joined by the names; see `nspca.data.annotate`.
    report : callable, optional
        Gets progress events and may raise `Cancelled`.
    **options

    Returns
    -------
    Dataset
        Its kind is "words". `texts` holds the documents, long ones shortened.

    Raises
    ------
    InvalidData
        When the texts cannot be read or hold too few words.
    InvalidOption
        For an option outside its range.
    """
    how = TextOptions(**options)
    report = report or silent
    is_list = isinstance(source, Sequence) and not isinstance(source, str | bytes | bytearray | memoryview)
    title = name or ("texts" if is_list else name_of(source))
    report(Event("reading", message=title))
    table = None if annotation is None else read_annotation(annotation)
    label, own = split_label(how.label_column, table)
    given: Any = source
    if is_list:
        found = from_strings(given)
    elif isinstance(source, str | Path) and Path(source).is_dir():
        found = read_files(limits.list_files(Path(source), _read_file), how.encoding)
    else:
        found = read_documents(
            limits.bounded_bytes(given),
            text_column=how.text_column,
            id_column=how.id_column,
            label_column=own,
            split=how.split,
            encoding=how.encoding,
        )
    report(Event("counting words", total=len(found.texts)))
    counted = count_documents(found.texts, how)
    kept, cut = shortened(found.texts, MOST_TEXT)
    notes = (*found.notes, *counted.notes)
    if cut:
        notes += (
            f"The texts are longer than {mib(MOST_TEXT)}: for reading, the long ones are kept in part.",
        )
    data = Dataset(
        title,
        counted.X,
        counted.words,
        frozen(found.names),
        labels=found.label_columns.get(found.label_name),
        kind="words",
        findings=as_findings(notes),
        label_columns=found.label_columns,
        label_name=found.label_name,
        texts=kept,
        options=ReadOptions(**dict(how)).given(),
    )
    return annotate(group_by_prefix(data), table, label)


keywords(read_text, TextOptions)


def _read_file(path: Path) -> bytes:
    if path.stat().st_size > MOST_BYTES:
        raise InvalidData(
            f"A file of texts may have at most {mib(MOST_BYTES)}, and {path.name} has "
            f"{mib(path.stat().st_size)}: give fewer texts."
        )
    return path.read_bytes()


def weighted(data: Dataset, name: str) -> Dataset:
    """Return a data set with the feature `name` as the weights of its samples, those of weight 0 left out.

    A file that has weights beside its features keeps them.
    """
    if data.weights is not None and name not in data.feature_names:
        return data
    features = list(data.feature_names)
    at = find_column(features, name, "weight")
    column: Any = data.X[:, [at]]
    w = np.asarray(column.toarray() if sp.issparse(column) else column, dtype=np.float64).ravel()
    if data.is_covariance or w.min() < 0 or not w.any():
        got = f"{w.min():g} for {data.sample_names[int(w.argmin())]}" if w.min() < 0 else "nothing but 0"
        got = "a covariance, which has no samples" if data.is_covariance else got
        raise InvalidData(
            f'Weights are numbers of at least 0 and not all 0, but column "{short(name)}" holds {got}: name '
            "another column, or leave the weights out."
        )
    kept = np.flatnonzero(w)
    out = w.size - kept.size
    more = f"; {were(out, 'sample')} left out for a weight of 0" if out else ""
    said = Finding(f'Column "{short(name)}" holds the weights of the samples and is no feature{more}.')
    fewer = data.without([at])
    fewer = replace(fewer, findings=(*data.findings, said), weights=w)
    return fewer.rows(kept) if out else fewer


def used_options(options: ReadOptions, layout: Layout | None) -> Mapping[str, Any]:
    """Return the options that were given or found, by their names."""
    found: dict[str, Any] = {}
    if layout is not None and layout.delimiter:
        found = {"delimiter": layout.delimiter, "decimal": layout.numerals.decimal, "header": layout.header}
        if layout.header and layout.above > 1:
            found["header"] = layout.above
        if layout.numerals.thousands:
            found["thousands"] = layout.numerals.thousands
        if layout.comment:
            found["comment"] = layout.comment
        if layout.id_column is not None:
            found["id_column"] = layout.columns[layout.id_column]
    return found | options.given()


def name_of(source: object) -> str:
    """Return the title of a data set from its path or open file; "upload" when there is no name."""
    given = source if isinstance(source, (str, Path)) else getattr(source, "name", "") or ""
    stem = PurePosixPath(str(given).replace("\\", "/")).name.removesuffix(".gz")
    stem = stem.rsplit(".", 1)[0] if "." in stem[1:] else stem
    return "".join(c for c in stem if c.isprintable())[:80] or "upload"
