"""Read documents: text files in a ZIP or a folder, a table with a column of texts, or the parts of one text.

`find_documents` recognises a file with texts. `read_documents` returns the texts with names and label
columns. Words are counted in `nspca.data.counting`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

import numpy as np

from nspca.data import limits
from nspca.data.counting import UNDIVIDED
from nspca.data.dialect import are_labels, as_utf8
from nspca.data.encodings import guess_encoding
from nspca.data.formats.docword import DocwordReader
from nspca.data.formats.excel import is_spreadsheet, sheet_as_csv
from nspca.data.formats.frames import convert_json, is_json
from nspca.data.formats.matrixmarket import MatrixMarketReader
from nspca.data.formats.strings import (
    HEAD,
    ROWS,
    first_rows,
    has_header,
    is_hidden,
    natural_order,
    read_strings,
    short_name,
    split_rows,
)
from nspca.data.names import Names, numbered, printable, quote_names, unique_names
from nspca.data.numerals import is_number
from nspca.data.roles import find_column
from nspca.errors import InvalidData, shown
from nspca.validation.archive import mib, open_zip, unzip_member

MOST_BYTES = 64 * 2**20
"""Maximum bytes of all texts together, about sixty thousand pages."""
MOST_DOCUMENT = 4 * 2**20
"""Maximum bytes of one text, about four novels. Each word costs 60 bytes of memory while it is counted."""
MOST_DOCUMENTS = 200_000
"""Maximum texts of one data set. Each costs some hundred bytes besides its characters."""
SPLITS = ("automatic", "lines", "paragraphs")
"""Ways to divide one text file into documents."""
ENDINGS = (".txt", ".text", ".md")
"""Endings of text files in an archive or a folder."""
WORDS = 3.0
"""Minimum average number of words per document, for a file to count as texts."""
_FEW_WORDS = 1.2
"""Minimum average number of words of the different answers in a column."""
_LETTERS = 0.6
"""Minimum share of letters and blanks in running text. Tables of numbers have few letters."""
_BINARY = (
    b"\x93NUMPY",
    b"PAR1",
    b"\x89",
    b"P1",
    b"P2",
    b"P3",
    b"P4",
    b"P5",
    b"P6",
    b"\xff\xd8",
    b"RIFF",
    b"%PDF",
)
"""First bytes of binary files. Other binary files are recognised by their zero bytes."""
_MOST_TITLE = 5
"""Maximum lines above a table of texts, such as a title."""
_BLANK_LINE = re.compile(rb"\n[ \t]*\n\s*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, eq=False)
class Documents:
    """Texts with their names and label columns.

    `label_name` is the name of the column that is the labels; empty for none.
    """

    texts: tuple[str, ...]
    names: Names
    label_columns: dict[str, np.ndarray] = field(default_factory=dict)
    label_name: str = ""
    notes: tuple[str, ...] = ()


def find_documents(raw: bytes) -> str:
    """Return the kind of texts in a file: "files" (a ZIP), "table", "lines", or "" for none.

    A table counts if one column holds running text, and at most two or half of its columns are numbers.
    """
    try:
        raw = limits.plain_bytes(raw, limit=MOST_BYTES)
        if is_spreadsheet(raw):
            return _kind_of_text(sheet_as_csv(raw, ROWS, least=1)[0])
        if raw.startswith(b"PK\x03\x04"):
            return _kind_of_archive(raw)
        head = raw[:HEAD]
        if head.startswith(_BINARY) or DocwordReader.matches(head) or MatrixMarketReader.matches(head):
            return ""
        return _kind_of_text(as_utf8(head if len(raw) <= HEAD else head[: head.rfind(b"\n") + 1] or head)[0])
    except InvalidData:
        return ""


def _kind_of_archive(raw: bytes) -> str:
    """Return the kind of texts in a ZIP file: "files" or ""."""
    archive, members = open_zip(raw)
    texts, others = text_files([(info.filename, partial(unzip_member, archive, info)) for info in members])
    if len(texts) < 2 or len(others) > len(texts):
        return ""
    return "" if any(DocwordReader.matches(read()[:HEAD]) for _, read in texts[:2]) else "files"


def _kind_of_text(raw: bytes) -> str:
    """Return the kind of texts in the beginning of a UTF-8 text: "table", "lines" or ""."""
    raw = _find_table(raw)[0]
    _, rows = _first_rows(raw)
    if rows:
        numbers = sum(_is_numeric([row[i] for row in rows[1:]]) for i in range(len(rows[0])))
        if 2 * numbers > len(rows[0]) and numbers > 2:
            return ""
        if _text_column(rows) is not None or (numbers < 2 and _answer_column(rows) is not None):
            return "table"
    return _kind_of_lines(raw.decode("utf-8", errors="ignore"))


def _find_table(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a text in UTF-8 from the header of its table on, JSON lines as CSV, and notes about that."""
    if is_json(raw[:HEAD]):
        converted = convert_json(raw)
        return converted.text, tuple(map(str, converted.findings))
    rest = re.sub(rb"^sep=.\r?\n", b"", raw, count=1) if raw.startswith(b"sep=") else raw
    above: list[str] = []
    for _ in range(_MOST_TITLE + 1):
        rows = first_rows(rest)[1]
        is_title = (
            len(rows) > 2 and not any(rows[0][1:]) and any(sum(map(bool, row)) > 1 for row in rows[1:3])
        )
        if len(rows) > 2 and not is_title:
            said = f'Left out above the table: "{printable(" ".join(above))[:60]}".'
            return rest, (said,) if above else ()
        line, _, rest = rest.partition(b"\n")
        above += [line.decode(errors="replace")] if line.strip() else []
    return raw, ()


def _first_rows(raw: bytes) -> tuple[str | None, list[list[str]]]:
    """Return the delimiter and the first rows of a table in UTF-8, also of one column in quotation marks."""
    delimiter, rows = first_rows(raw)
    if delimiter is None and raw.count(b'"', 0, HEAD) > 1:
        alone = split_rows(raw[:HEAD].decode(errors="ignore"), ",")
        quoted = len(re.findall(rb'(?:^|\n)"', raw[:HEAD]))
        if len(alone) > 1 and {len(row) for row in alone} == {1} and 2 * quoted >= len(alone):
            return ",", alone
    return delimiter, rows


def _kind_of_lines(text: str) -> str:
    """Return "lines" if the lines are running text, else ""."""
    lines = [line for line in text.splitlines() if line.strip()]
    letters = sum(sign.isalpha() or sign.isspace() for sign in text) / max(len(text), 1)
    words = len(text.split()) / max(len(lines), 1)
    return "lines" if len(lines) > 1 and words >= WORDS and letters >= _LETTERS else ""


def text_files(files: limits.Files) -> tuple[limits.Files, limits.Files]:
    """Split files into text files and others. Hidden files are in neither part."""
    visible = [one for one in files if not is_hidden(one[0])]
    texts = [one for one in visible if one[0].lower().endswith(ENDINGS)]
    return texts, [one for one in visible if one not in texts]


def read_documents(
    raw: bytes,
    *,
    text_column: str | int | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    split: str = "automatic",
) -> Documents:
    """Return the texts of a ZIP of text files, of a CSV or Excel table, or of one text file.

    Parameters
    ----------
    raw : bytes
    text_column, id_column, label_column : str or int, optional
        Columns of a table, by name or by number from 0: texts, names and labels. By default the column with
        the longest running texts is taken for the texts.
    split : one of `SPLITS`
        Unit of a document in one text file: a line, or a paragraph between blank lines. "automatic" means
        paragraphs if some have several lines.
    """
    packed = len(raw)
    raw = limits.plain_bytes(raw, limit=MOST_BYTES)
    columns = (text_column, id_column, label_column)
    if is_spreadsheet(raw):
        sheet, notes = sheet_as_csv(raw, packed=packed, least=1, limit=MOST_BYTES)
        found = _split_text(sheet, columns, split)
        return replace(found, notes=(*map(str, notes), *found.notes))
    if raw.startswith(b"PK\x03\x04"):
        archive, members = open_zip(raw)
        limits.check_archive(packed, members)
        _check_bytes(sum(info.file_size for info in members if info.filename.lower().endswith(ENDINGS)))
        return read_files([(info.filename, partial(unzip_member, archive, info)) for info in members])
    if raw.startswith(_BINARY):
        raise InvalidData(
            "Texts are needed as .txt, CSV, Excel or a ZIP of .txt files, this is another format."
        )
    return _split_text(raw, columns, split)


def read_files(files: limits.Files) -> Documents:
    """Return the text files of an archive or a folder as documents, in natural order of their names.

    The folder of each file becomes its label if there are several folders.
    """
    texts, others = text_files(files)
    texts = sorted(texts, key=lambda one: natural_order(one[0]))
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
    others_encoded = [whole for whole in contents if not _is_utf8(whole)]
    encoding = guess_encoding(b"\n".join(others_encoded)) if others_encoded else "utf-8"
    for (label, _), whole in zip(texts, contents, strict=True):
        try:
            plain = as_utf8(whole)[0] if _is_utf8(whole) else whole.decode(encoding, "replace").encode()
            found.append((label, _clean_text(plain.decode(), short_name(label))))
        except InvalidData as error:
            if not _is_no_text(error):
                raise
            unread.append(label)
    paths = [PurePosixPath(label.replace("\\", "/")) for label, _ in found]
    folders = [printable(path.parent.name) for path in paths]
    grouped = 1 < len(set(folders)) < len(folders)
    names, renamed = unique_names([printable(path.stem) for path in paths], "document")
    notes: tuple[str, ...] = renamed
    if others_encoded and len(unread) < len(others_encoded):
        notes += (f"Texts that are not UTF-8 were read as {encoding}, which was guessed from all of them.",)
    if unread:
        notes += (f"Left out because they are no texts: {quote_names(map(short_name, unread))}.",)
    if others:
        left_out = quote_names(short_name(label) for label, _ in others)
        notes += (f"Left out because they are no text files: {left_out}.",)
    if grouped:
        notes += ("The folder of each text was taken as its label.",)
    groups = {"folder": np.array(folders, dtype=np.str_)} if grouped else {}
    return Documents(tuple(text for _, text in found), names, groups, "folder" if grouped else "", notes)


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


def _split_text(raw: bytes, columns: Sequence[str | int | None], split: str) -> Documents:
    """Return the documents in the bytes of a text: rows of a table, lines or paragraphs.

    `columns` are text, id and label column as in `read_documents`; None for those not given.
    """
    _check_bytes(len(raw))
    raw, findings = as_utf8(raw)
    raw, notes = _find_table(raw)
    notes = (*map(str, findings), *notes)
    delimiter, rows = _first_rows(raw)
    named = any(column is not None for column in columns)
    if named or (rows and split == "automatic" and _guess_column(rows) is not None):
        if delimiter is None:
            raise InvalidData(
                "A table of texts has two columns at least, and rows of the same length; this has not."
            )
        found = _read_rows(raw, delimiter, rows, columns)
    else:
        found = _split_lines(raw, split)
    return replace(found, notes=(*map(str, notes), *found.notes))


def _split_lines(raw: bytes, split: str) -> Documents:
    """Return the lines or paragraphs of a text as documents.

    The text is split as bytes, which take less memory than a str.
    """
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    ends = len(_BLANK_LINE.findall(raw, 0, len(raw.rstrip())))
    lines = raw.count(b"\n") + 1
    several = ends > 0 and 2 * ends < lines - 1
    by_paragraph = split == "paragraphs" or (split == "automatic" and several)
    _check_count(ends + 1 if by_paragraph else lines)
    pieces = (
        piece.decode()
        for piece in (_BLANK_LINE.split(raw) if by_paragraph else raw.split(b"\n"))
        if piece.strip()
    )
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


def _read_rows(
    raw: bytes, delimiter: str, rows: list[list[str]], wanted: Sequence[str | int | None]
) -> Documents:
    """Return the rows of a table in UTF-8 as documents.

    `rows` are the first rows. `wanted` are text, id and label column; None for those not given.
    """
    guessed = _guess_column(rows)
    table = read_strings(raw, delimiter, has_header(rows, guessed or 0, wanted))
    if wanted[0] is None and guessed is None:
        raise InvalidData("No column of the table holds running texts: name the text column.")
    column = guessed if wanted[0] is None else find_column(table.header, wanted[0], "text")
    assert column is not None  # named or guessed, see above
    _check_count(len(table.columns[0]))
    texts = tuple(_clean_text(cell, f"row {number}") for number, cell in enumerate(table.columns[column], 1))
    cells = {i: [*map(printable, cells)] for i, cells in enumerate(table.columns) if i != column}
    ids = None if wanted[1] is None else find_column(table.header, wanted[1], "id")
    if ids is None:
        ids = next((i for i, names in cells.items() if _are_names(names)), None)
    notes: tuple[str, ...] = (f'The texts are the column "{table.header[column][:40]}".',)
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
    """Tell whether cells are short and all different, as names are."""
    return all(0 < len(cell) <= 80 for cell in cells) and len(set(cells)) == len(cells)


def _text_column(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column of running texts with the most characters; None when there is none."""
    best, most = None, 0
    for i in range(len(rows[0])):
        cells = [row[i] for row in rows[1:] or rows]
        filled = [cell for cell in cells if cell.strip()]
        words = sum(map(_count_words, filled)) / max(len(filled), 1)
        characters = sum(map(len, filled))
        letters = sum(sign.isalpha() or sign.isspace() for cell in filled for sign in cell)
        is_text = words >= WORDS and letters >= _LETTERS * characters and 2 * len(set(filled)) > len(filled)
        if is_text and characters > most:
            best, most = i, characters
    return best


def _count_words(text: str) -> int:
    """Return the number of words; two signs of a script without blanks count as one."""
    return len(text.split()) + sum(map(len, UNDIVIDED.findall(text))) // 2


def _answer_column(rows: Sequence[Sequence[str]], least: float = _FEW_WORDS) -> int | None:
    """Return the column of short answers, many of them the same, with the most characters; None for none."""
    best, most = None, 0
    for i in range(len(rows[0])):
        cells = [row[i] for row in rows[1:] or rows if row[i].strip()]
        different = set(cells)
        letters = sum(sign.isalpha() or sign.isspace() for cell in different for sign in cell)
        characters = sum(map(len, different))
        words = sum(map(_count_words, different)) / max(len(different), 1)
        if characters > most and len(different) > 1 and letters >= _LETTERS * characters and words >= least:
            best, most = i, characters
    return best


def _guess_column(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column of running texts, or else that of short answers; None when there is neither."""
    found = _text_column(rows)
    found = _answer_column(rows) if found is None else found
    return _answer_column(rows, 1.0) if found is None and has_header(rows, 0) else found


def _is_numeric(cells: Sequence[str]) -> bool:
    """Tell whether at least half of the filled cells are numbers."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and 2 * sum(is_number(cell, ".") for cell in filled) >= len(filled)


def _clean_text(text: str, name: str) -> str:
    """Return a text without control characters; refuse one that is too long."""
    if len(text) > MOST_DOCUMENT:
        raise InvalidData(
            f'A text may have at most {mib(MOST_DOCUMENT)}, and "{name}" has {mib(len(text))}: cut it into '
            "chapters or paragraphs."
        )
    return _CONTROL.sub(" ", text).strip()


def _check_bytes(count: int) -> None:
    """Refuse texts of more than `MOST_BYTES` together."""
    if count > MOST_BYTES:
        raise InvalidData(
            f"All texts together may have at most {mib(MOST_BYTES)}, and these have {mib(count)} or more: "
            "give fewer texts, or count the words yourself and give them as a docword file."
        )


def _check_count(count: int) -> None:
    """Refuse more than `MOST_DOCUMENTS` texts."""
    if count > MOST_DOCUMENTS:
        raise InvalidData(f"At most {MOST_DOCUMENTS:,} texts are counted, got {count:,}: give fewer.")


def _is_no_text(error: InvalidData) -> bool:
    """Tell whether an error means that a file is not text, such as a picture among text files."""
    return "not text" in str(error) or "UTF-16" in str(error)


def shortened(texts: Sequence[str], most: int) -> tuple[tuple[str, ...], bool]:
    """Return texts shortened to at most `most` bytes together, and whether any was shortened.

    Only texts above the average share, `most` over their number, are cut.
    """
    sizes = np.array([len(text.encode("utf-8", errors="replace")) for text in texts])
    if int(sizes.sum()) <= most:
        return tuple(texts), False
    each = most // max(len(texts), 1)
    short: list[str] = []
    for text, size in zip(texts, sizes, strict=True):
        if size <= each:
            short.append(text)
        else:
            short.append(
                text.encode("utf-8", errors="replace")[: max(each - 3, 0)].decode("utf-8", "ignore") + "…"
            )
    return tuple(short), True
