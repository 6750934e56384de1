"""The entry point for texts: `read_text` counts the words of documents and returns a `Dataset`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from nspca.data import limits
from nspca.data.annotation import annotate, group_by_prefix, read_annotation, split_label
from nspca.data.arrays import MOST_TEXT
from nspca.data.counting import count_documents
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.formats.documents import (
    MOST_BYTES,
    Documents,
    from_strings,
    read_documents,
    read_files,
    shortened,
)
from nspca.data.names import frozen
from nspca.data.options import ReadOptions, TextOptions, keywords
from nspca.data.reading import name_of
from nspca.errors import InvalidData
from nspca.progress import Event, Report, silent
from nspca.validation.archive import mib


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
    columns = {
        "text_column": how.text_column, "id_column": how.id_column, "label_column": own, "split": how.split
    }  # fmt: skip
    found = _documents(source, is_list, columns)
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


def _documents(source: Any, is_list: bool, options: dict[str, Any]) -> Documents:
    """Return the documents of a source of any kind."""
    if is_list:
        return from_strings(source)
    if isinstance(source, str | Path) and Path(source).is_dir():
        return read_files(limits.list_files(Path(source), _read_file))
    return read_documents(limits.bounded_bytes(source), **options)


def _read_file(path: Path) -> bytes:
    if path.stat().st_size > MOST_BYTES:
        raise InvalidData(
            f"A file of texts may have at most {mib(MOST_BYTES)}, and {path.name} has "
            f"{mib(path.stat().st_size)}: give fewer texts."
        )
    return path.read_bytes()
