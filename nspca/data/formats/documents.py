"""Read documents: text, Word and PDF files, a table with a column of texts, or the parts of one file.

`find_documents` recognises a file with texts. `read_documents` returns the texts with names and label
columns. Words are counted in `nspca.data.counting`.
"""

import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

import numpy as np

from nspca.data import limits
from nspca.data.counting import UNDIVIDED
from nspca.data.dialect import ENOUGH_ROWS, Layout, are_labels
from nspca.data.encodings import as_utf8, guessed
from nspca.data.findings import Finding
from nspca.data.formats.base import Source
from nspca.data.formats.docword import is_docword
from nspca.data.formats.excel import is_spreadsheet, sheet_as_csv
from nspca.data.formats.json_tables import convert_json, is_json
from nspca.data.formats.matrixmarket import is_matrix_market
from nspca.data.formats.strings import (
    HEAD,
    find_table,
    has_header,
    read_strings,
    short_name,
    visible,
)
from nspca.data.names import Names, numbered, printable, quote_names, unique_names
from nspca.data.numerals import is_number
from nspca.data.roles import find_column
from nspca.errors import InvalidData, needs, shown
from nspca.validation.archive import mib, open_zip, parsing, unzip_member

MOST_BYTES = 64 * 2**20
"""Maximum bytes of all texts together, about sixty thousand pages."""
MOST_DOCUMENT = 4 * 2**20
"""Maximum bytes of one text, about four novels. Each word costs 60 bytes of memory while it is counted."""
MOST_DOCUMENTS = 200_000
"""Maximum texts of one data set. Each costs some hundred bytes besides its characters."""
SPLITS = ("automatic", "lines", "paragraphs")
"""Ways to divide one text file into documents."""
_WRITTEN = (".docx", ".pdf")
"""Endings of documents of Word and PDF."""
ENDINGS = (".txt", ".text", ".md", *_WRITTEN)
"""Endings of documents in an archive or a folder."""
WORDS, _FEW_WORDS = 3.0, 1.2
"""Minimum average number of words: of running texts, and of the different answers in a column."""
_LETTERS = 0.6
"""Minimum share of letters and blanks in running text. Tables of numbers have few letters."""
MOST_PAGES = 5000
"""Maximum pages of a PDF file, about ten thick books. A page takes some hundredths of a second."""
_BODY = "word/document.xml"
_RUN = re.compile(r"<w:t(?: [^<>]*)?>([^<]*)</w:t>|<w:(?:tab|br|cr)\b")
_BINARY = re.compile(rb"\x93NUMPY|PAR1|\x89|P[1-6]|\xff\xd8|RIFF|%PDF")
"""First bytes of binary files. Other binary files are recognised by their zero bytes."""
_BLANK_LINE = re.compile(rb"\n[ \t]*\n\s*")
_QUOTES = {0x91: "‘", 0x92: "’"}
"""Apostrophes of Windows in a text that was read as Latin-1: "we\x92ll" is "we’ll"."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, eq=False)
class Documents:
    """Texts with their names and label columns; `label_name` names the column that is the labels, if any."""

    texts: tuple[str, ...]
    names: Names
    label_columns: dict[str, np.ndarray] = field(default_factory=dict)
    label_name: str = ""
    notes: tuple[Finding | str, ...] = ()


def find_documents(source: Source) -> str:
    """Return the kind of texts in a file: "files" (a ZIP), "table", "lines", or "" for none.

    A table counts if one column holds running text, and at most two or half of its columns are numbers.
    A spreadsheet that was converted before is not converted again.
    """
    try:
        if source.converted and is_spreadsheet(source.raw):
            return _kind_of_text(source.converted[-1].text[:HEAD])
        files, text, _ = open_texts(source.raw, 4 * ENOUGH_ROWS)
    except InvalidData:
        return ""
    if files is None:
        return _kind_of_text(text)
    texts, others = text_files(files)
    counts = any(is_docword(read()[:HEAD]) for _, read in texts[:2])
    return "" if counts or len(texts) < 2 or len(others) > len(texts) else "files"


def open_texts(
    raw: bytes, rows: int | None = None, limit: int | None = None, encoding: str | None = None
) -> tuple[limits.Files | None, bytes, tuple[Finding | str, ...]]:
    """Return the files of a ZIP, or a text in UTF-8 from the header of its table on, and notes.

    With `rows`, only so many rows of a spreadsheet and the beginning of a text are read. A compressed text
    may have at most `limit` bytes (`MOST_BYTES`).
    """
    packed, limit = len(raw), limit or MOST_BYTES
    raw = limits.plain_bytes(raw, limit=limit)
    notes: tuple[Finding | str, ...]
    if is_written(raw):
        raw, notes = read_written(raw).encode(), ()
    elif is_spreadsheet(raw):
        raw, notes = sheet_as_csv(raw, rows, packed=packed, least=1, limit=limit)
    elif raw.startswith(b"PK\x03\x04"):
        archive, members = open_zip(raw)
        limits.check_archive(packed, members)
        _check_bytes(sum(info.file_size for info in members if info.filename.lower().endswith(ENDINGS)))
        return [(info.filename, partial(unzip_member, archive, info)) for info in members], b"", ()
    elif _BINARY.match(raw) or is_docword(raw[:HEAD]) or is_matrix_market(raw[:HEAD]):
        raise InvalidData(
            "A table or texts are needed as CSV, Excel, .txt or a ZIP of .txt files, this is another format."
        )
    else:
        _check_bytes(len(raw))
        cut = rows is not None and len(raw) > HEAD
        raw, notes = as_utf8((raw[: raw.rfind(b"\n", 0, HEAD) + 1] or raw[:HEAD]) if cut else raw, encoding)
    if is_json(raw[:HEAD]):
        converted = convert_json(raw)
        raw, notes = converted.text, (*notes, *converted.findings)
    return None, raw, notes


def _kind_of_text(raw: bytes) -> str:
    layout = find_table(raw)
    if layout is not None:
        rows = layout.rows
        columns = [[row[i] for row in rows[1:] if row[i].strip()] for i in range(len(rows[0]))]
        numbers = sum(2 * sum(map(is_number, cells)) >= len(cells) > 0 for cells in columns)
        if 2 * numbers > len(columns) and numbers > 2:
            return ""
        if _text_column(rows) is not None or (numbers < 2 and _text_column(rows, _FEW_WORDS) is not None):
            return "table"
    text = raw.decode("utf-8", errors="ignore")
    lines = sum(1 for line in text.splitlines() if line.strip())
    is_prose = len(text.split()) >= WORDS * lines and _letters(text) >= _LETTERS * len(text)
    return "lines" if lines > 1 and is_prose else ""


def _letters(text: str) -> int:
    return sum(sign.isalpha() or sign.isspace() for sign in text)


def is_written(raw: bytes) -> bool:
    """Tell whether a file is a Word document or a PDF."""
    if raw.startswith(b"%PDF"):
        return True
    if not raw.startswith(b"PK\x03\x04"):
        return False
    try:
        return any(info.filename == _BODY for info in open_zip(raw)[1])
    except InvalidData:
        return False


def read_written(raw: bytes) -> str:
    """Return the text of a Word document, a line a paragraph, or of a PDF, a paragraph a page."""
    text = _pdf_text(raw) if raw.startswith(b"%PDF") else _word_text(raw)
    if not text.strip():
        raise InvalidData("The document has no letters: if it is scanned, save it with recognised text.")
    return text


def _word_text(raw: bytes) -> str:
    archive, members = open_zip(raw)
    limits.check_archive(len(raw), members)
    body = next((info for info in members if info.filename == _BODY), None)
    if body is None:
        raise InvalidData("The Word document is damaged: save it again.")
    # Searched as text, so that no entity of the XML is ever expanded.
    paragraphs = unzip_member(archive, body).decode("utf-8", "replace").split("</w:p>")
    lines = ("".join(found[1] or " " for found in _RUN.finditer(one)) for one in paragraphs)
    return "\n".join(html.unescape(line) for line in lines if line.strip())


def _pdf_text(raw: bytes) -> str:
    with needs("The text of a PDF", "files"):
        import pypdf
    with parsing("The PDF is locked or damaged: save it again, or its text as .txt."):
        pages = pypdf.PdfReader(io.BytesIO(raw)).pages
        if len(pages) > MOST_PAGES:
            raise InvalidData(f"A PDF may have {MOST_PAGES:,} pages, got {len(pages):,}: divide it.")
        texts = [page.extract_text() for page in pages]
    return "\n\n".join(re.sub(r"\n\s*\n", "\n", text.strip()) for text in texts)


def text_files(files: limits.Files) -> tuple[limits.Files, limits.Files]:
    """Split files into text files and others. Hidden files are in neither part."""
    shown = visible(files)
    texts = [one for one in shown if one[0].lower().endswith(ENDINGS)]
    return texts, [one for one in shown if one not in texts]


def read_documents(
    raw: bytes,
    *,
    text_column: str | int | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    split: str = "automatic",
    encoding: str | None = None,
) -> Documents:
    """Return the texts of a ZIP of text files, of a CSV or Excel table, or of one text file.

    Columns of a table are given by name or by number from 0; without one, the column with the longest running
    texts is taken. `split` (one of `SPLITS`) says what a document in one text file is: a line, or a paragraph
    between blank lines; "automatic" means paragraphs if some have several lines.
    """
    files, raw, notes = open_texts(raw, encoding=encoding)
    if files is not None:
        return read_files(files, encoding)
    layout = find_table(raw)
    columns = (text_column, id_column, label_column)
    named = any(column is not None for column in columns)
    if named and layout is None:
        raise InvalidData("A table of texts has two columns at least, and rows of one length; this has not.")
    if layout and (named or (split == "automatic" and _guess_column(layout.rows) is not None)):
        found = _read_rows(raw, layout, columns)
    elif layout and split == "automatic" and not _kind_of_text(raw):
        raise InvalidData("The table holds no column of texts: name one, or read its numbers by nspca.read.")
    else:
        found = _split_lines(raw, split)
    return replace(found, notes=(*notes, *found.notes))


def read_files(files: limits.Files, encoding: str | None) -> Documents:
    """Return the text files of an archive or a folder as documents, in natural order of their names.

    The folder of each file becomes its label if there are several folders. Without an `encoding`, texts that
    are not UTF-8 have the one that is guessed from all of them.
    """
    texts, others = text_files(files)
    if len(texts) < 2:
        raise InvalidData(
            f"Two text files (.txt) at least are needed, got {len(texts)}: give a folder or a ZIP of them."
        )
    _check_count(len(texts))
    held, found, unread, contents = 0, [], [], []
    for _, read in texts:
        contents.append(read())
        held += len(contents[-1])
        _check_bytes(held)
    plain_texts = [
        raw for (label, _), raw in zip(texts, contents, strict=True) if not _is_written(label, raw)
    ]
    others_encoded = [] if encoding else [whole for whole in plain_texts if not _is_utf8(whole)]
    usual, finding = guessed(b"\n".join(others_encoded)) if others_encoded else ("utf-8", None)
    for (label, _), whole in zip(texts, contents, strict=True):
        try:
            if _is_written(label, whole):
                text = read_written(whole)
            elif encoding or _is_utf8(whole):
                text = as_utf8(whole, encoding)[0].decode()
            else:
                text = whole.decode(usual, "replace")
            found.append((label, _clean_text(text, short_name(label))))
        except InvalidData as error:
            if not _is_written(label, whole) and "not text" not in str(error) and "UTF-16" not in str(error):
                raise
            unread.append(label)  # such as a picture among text files
    if not found:
        kind = f"text in the encoding {encoding}: name another one" if encoding else "text: give .txt files"
        raise InvalidData(f"None of the {len(texts)} files is {kind}.")
    paths = [PurePosixPath(label.replace("\\", "/")) for label, _ in found]
    folders = [printable(path.parent.name) for path in paths]
    grouped = 1 < len(set(folders)) < len(folders)
    names, renamed = unique_names([printable(path.stem) for path in paths], "document")
    notes: tuple[Finding | str, ...] = tuple(renamed)
    if finding is not None and len(unread) < len(others_encoded):
        said = f"Texts that are not UTF-8 were read as {usual}, which was guessed from all of them."
        notes += (replace(finding, what=said),)
    for left, why in ((unread, "no texts"), ([label for label, _ in others], "no text files")):
        if left:
            notes += (f"Left out because they are {why}: {quote_names(map(short_name, left))}.",)
    if grouped:
        notes += ("The folder of each text was taken as its label.",)
    groups = {"folder": np.array(folders, dtype=np.str_)} if grouped else {}
    return Documents(tuple(text for _, text in found), names, groups, "folder" if grouped else "", notes)


def _is_written(label: str, raw: bytes) -> bool:
    """Tell whether a file is a Word document or a PDF, by its name or its content."""
    return label.lower().endswith(_WRITTEN) or is_written(raw)


def _is_utf8(raw: bytes) -> bool:
    """Tell whether bytes are UTF-8, or for `as_utf8` to judge: UTF-16, or no text at all."""
    if b"\0" in raw[:HEAD] or raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def from_strings(texts: Sequence[str]) -> Documents:
    """Return a list of texts as documents."""
    _check_count(len(texts))
    if wrong := [text for text in texts if not isinstance(text, str)]:
        raise InvalidData(f"Every text must be a str, got {shown(wrong[0])}.")
    _check_bytes(sum(len(text) for text in texts))
    cleaned = tuple(_clean_text(text, f"document {number}") for number, text in enumerate(texts, 1))
    return Documents(cleaned, numbered("document", len(cleaned)))


def _split_lines(raw: bytes, split: str) -> Documents:
    """Return the lines or paragraphs of a text, as bytes to save memory, as documents."""
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    ends = len(_BLANK_LINE.findall(raw, 0, len(raw.rstrip())))
    lines = raw.count(b"\n") + 1
    by_paragraph = split == "paragraphs" or (split == "automatic" and 0 < 2 * ends < lines - 1)
    _check_count(ends + 1 if by_paragraph else lines)
    parts = _BLANK_LINE.split(raw) if by_paragraph else raw.split(b"\n")
    pieces = (piece.decode() for piece in parts if piece.strip())
    texts = tuple(_clean_text(piece, f"document {number}") for number, piece in enumerate(pieces, 1))
    kind = "paragraph between blank lines" if by_paragraph else "line"
    notes: tuple[str, ...] = (f"Every {kind} is one text.",)
    if len(texts) > 2 and _is_heading(texts[0]) and not any(map(_is_heading, texts[1:])):
        notes += (f'The first line, "{texts[0]}", was taken as the name of the column.',)
        texts = texts[1:]
    return Documents(texts, numbered("document", len(texts)), notes=notes)


def _is_heading(text: str) -> bool:
    """Tell whether a text is one word without a mark at its end, such as the name of a column."""
    return len(text) <= 40 and bool(re.fullmatch(r"[\w.-]*\w", text))


def _read_rows(raw: bytes, layout: Layout, wanted: Sequence[str | int | None]) -> Documents:
    """Return a table in UTF-8 as documents; `wanted` are text, id and label column, None if not given."""
    guessed = _guess_column(layout.rows)
    table = read_strings(raw, layout, has_header(layout.rows, guessed or 0, wanted))
    column = guessed if wanted[0] is None else find_column(table.header, wanted[0], "text")
    if column is None:
        raise InvalidData("No column of the table holds running texts: name the text column.")
    _check_count(len(table.columns[0]))
    texts = tuple(_clean_text(cell, f"row {number}") for number, cell in enumerate(table.columns[column], 1))
    cells = {i: [*map(printable, cells)] for i, cells in enumerate(table.columns) if i != column}
    ids = None if wanted[1] is None else find_column(table.header, wanted[1], "id")
    if ids is None:
        ids = next((i for i, names in cells.items() if _are_names(names)), None)
    notes = (*table.notes, f'The texts are the column "{table.header[column][:40]}".')
    names: Names = numbered("document", len(texts))
    if ids is not None:
        names, renamed = unique_names(cells[ids], "document")
        notes += (f'Their names are the column "{table.header[ids][:40]}".', *renamed)
    label = None if wanted[2] is None else find_column(table.header, wanted[2], "label")
    groups, left = {}, []
    for i, one in cells.items():
        if i == label or (i != ids and are_labels(one)):
            groups[table.header[i]] = np.array([cell[:80] or "(none)" for cell in one], dtype=np.str_)
        elif i != ids:
            left.append(table.header[i])
    if left:
        notes += (f"Columns that are not counted: {quote_names(left)}.",)
    return Documents(texts, names, groups, "" if label is None else table.header[label], notes)


def _are_names(cells: Sequence[str]) -> bool:
    return all(0 < len(cell) <= 80 for cell in cells) and len(set(cells)) == len(cells)


def _text_column(rows: Sequence[Sequence[str]], least: float = WORDS) -> int | None:
    """Return the column of texts with the most characters; None when there is none.

    Its cells have `least` words on average. Cells of running text are mostly different; of short answers
    (less than `WORDS`) each is counted once.
    """
    best, most = None, 0
    for i in range(len(rows[0])):
        cells: Sequence[str] = [row[i] for row in rows[1:] or rows if row[i].strip()]
        different = [*dict.fromkeys(cells)]
        if len(different) <= (1 if least < WORDS else len(cells) / 2):
            continue
        cells = different if least < WORDS else cells
        characters = sum(map(len, cells))
        words = sum(map(_count_words, cells)) / len(cells)
        if characters > most and words >= least and sum(map(_letters, cells)) >= _LETTERS * characters:
            best, most = i, characters
    return best


def _count_words(text: str) -> int:
    """Return the number of words; two signs of a script without blanks count as one."""
    return len(text.split()) + sum(map(len, UNDIVIDED.findall(text))) // 2


def _guess_column(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column of running texts, or else that of short answers; None when there is neither."""
    for least in (WORDS, _FEW_WORDS, *([1.0] if has_header(rows, 0) else [])):
        if (found := _text_column(rows, least)) is not None:
            return found
    return None


def _clean_text(text: str, name: str) -> str:
    if len(text) > MOST_DOCUMENT:
        raise InvalidData(
            f'A text may have at most {mib(MOST_DOCUMENT)}, and "{name}" has {mib(len(text))}: cut it into '
            "chapters or paragraphs."
        )
    return _CONTROL.sub(" ", text.translate(_QUOTES)).strip()


def _check_bytes(count: int) -> None:
    if count > MOST_BYTES:
        raise InvalidData(
            f"All texts together may have at most {mib(MOST_BYTES)}, and these have {mib(count)} or more: "
            "give fewer texts, or count the words yourself and give them as a docword file."
        )


def _check_count(count: int) -> None:
    if count > MOST_DOCUMENTS:
        raise InvalidData(f"At most {MOST_DOCUMENTS:,} texts are counted, got {count:,}: give fewer.")


def shortened(texts: Sequence[str], most: int) -> tuple[tuple[str, ...], bool]:
    """Return texts shortened to at most `most` bytes together, and whether any was shortened.

    Only texts above the average share, `most` over their number, are cut.
    """
    encoded = [text.encode("utf-8", errors="replace") for text in texts]
    if sum(map(len, encoded)) <= most:
        return tuple(texts), False
    each = most // max(len(texts), 1)
    cut = [raw[: max(each - 3, 0)].decode("utf-8", "ignore") + "…" for raw in encoded]
    pairs = zip(texts, encoded, cut, strict=True)
    return tuple(text if len(raw) <= each else short for text, raw, short in pairs), True
