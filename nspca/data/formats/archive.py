"""A ZIP or folder with a table: which file is the table, which is about its samples, which are neither."""

import re
from pathlib import PurePosixPath

from nspca.data.encodings import as_utf8
from nspca.data.formats.base import Format
from nspca.data.formats.excel import is_spreadsheet, sheet_as_csv
from nspca.data.formats.strings import HEAD, find_table, short_name
from nspca.data.limits import Files, plain_bytes
from nspca.data.names import quote_names
from nspca.data.numerals import is_number
from nspca.errors import InvalidData

FORMAT = Format("a ZIP or folder", lambda source: source.files is not None)

_ASIDE = re.compile(
    r".*(read.?me|licen[cs]e|copying|changelog|citation|about|notes?|codebook|dictionary|description|manifest"
    r"|checksums?|md5sums?|sha\d+sums?)[^/]*|.*\.(md|rst|pdf|html?|docx?|rtf|odt|pptx?|log|sh|py|r|rmd|ipynb|m|bib"
    r"|tex|ya?ml|xml|toml|ini|md5|sha\d+|png|jpe?g|gif|svg|tiff?|bmp|webp)",
    re.IGNORECASE,
)
"""Names of files that are beside a table and hold none."""


def is_aside(name: str) -> bool:
    """Tell by its name whether a file holds no table."""
    return _ASIDE.fullmatch(PurePosixPath(name).name) is not None


def choose_files(files: Files) -> tuple[tuple[str, bytes], tuple[str, bytes] | None, list[str]]:
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
            f"samples{named}: give one of them (and another as annotation)."
        )
    found = sorted(((name, read()) for name, read in kept), key=lambda one: -_share_of_numbers(one[1]))
    headers = {raw[: max(raw.find(b"\n"), 0)] for _, raw in found}
    if len(found) > len(headers) and b"" not in headers:
        names = quote_names(short_name(name) for name, _ in found)
        raise InvalidData(f"The files are two tables of the same columns, {names}: give one of them.")
    return found[0], found[1] if len(found) > 1 else None, aside if len(kept) < len(files) else []


def _share_of_numbers(raw: bytes) -> float:
    """Return the share of numbers among the first cells of a table; 1 for a file that is no text."""
    try:
        raw = plain_bytes(raw)
        text = sheet_as_csv(raw, 50, least=1)[0] if is_spreadsheet(raw) else as_utf8(raw[:HEAD])[0]
    except InvalidData:
        return 1.0
    layout = find_table(text)
    cells = [cell for row in layout.rows[1:] for cell in row] if layout is not None else []
    return sum(is_number(cell, ".") for cell in cells) / max(len(cells), 1)
