"""Texts as UTF-8. Another encoding is guessed, by charset-normalizer where it is installed."""

import codecs
import re
from typing import Any

from nspca.data.findings import Finding
from nspca.errors import InvalidData, Late, NSPCAError, Way

charset_normalizer: Any = Late("charset_normalizer", "Encodings of texts", "files")
WESTERN = "cp1252"
"""The encoding of Western Europe, taken when nothing tells another."""
_SAMPLE = 2**13
"""Bytes from which an encoding is guessed: lines that are not ASCII, which alone tell it."""
_HEAD = 2**20
"""Bytes at the beginning of a text among which these lines are looked for, and bytes decoded at a time."""
_FIRST = 2**16
"""Bytes at the beginning of a file that tell whether it is text."""
_FORMATS = (
    "give a table (CSV, Excel, Parquet ...), a matrix (NPY, NPZ, Matrix Market), texts (.txt, Word, PDF) or "
    "a ZIP of images"
)
_LATIN = re.compile(
    r"cp(125[0247]|437|775|85[0278]|86[0135])|latin_1|iso8859_(1|2|3|4|9|10|13|14|15|16)|mac_.*|hp_roman8"
)
"""Encodings of one byte whose letters are Latin: few bytes differ, and short texts do not tell which."""
_WEST = re.compile(r"cp(1252|437|850|858|86[0135])|latin_1|iso8859_(1|15)|mac_roman|hp_roman8")
"""Those of Western languages alone."""
_PAIR = re.compile(rb"[\x80-\xff]{2}")
"""Neighbouring bytes beyond ASCII, which a text of signs of two bytes has somewhere."""
_CENTRAL = {"Polish", "Czech", "Slovak", "Hungarian", "Romanian", "Croatian", "Slovene", "Turkish"}
"""Languages that need another Latin encoding than the Western one."""


def guess_encoding(raw: bytes) -> str:
    """Return the probable encoding of a text that is not UTF-8."""
    try:
        from_bytes = charset_normalizer.from_bytes
    except NSPCAError:  # the package is not installed
        return WESTERN
    sample = b"\n".join(line for line in re.split(rb"[\r\n]+", raw[:_HEAD]) if not line.isascii())
    best = from_bytes(sample[:_SAMPLE]).best()
    if best is None or _WEST.fullmatch(best.encoding) or best.encoding.startswith("utf_"):
        return WESTERN
    if best.multi_byte_usage and not _PAIR.search(sample):  # a degree sign among ASCII
        return WESTERN
    if _LATIN.fullmatch(best.encoding) and best.language not in _CENTRAL:
        return WESTERN
    # Simplified Chinese is often written with signs that only the largest of its encodings has.
    return "gb18030" if best.encoding in ("gb2312", "gbk", "hz") else str(best.encoding)


def guessed(raw: bytes) -> tuple[str, Finding]:
    """Return the probable encoding of a text that is not UTF-8, and the finding that says so."""
    encoding = guess_encoding(raw)
    named = "Western European (cp1252)" if encoding == WESTERN else encoding
    others = {"gb18030": "It is Chinese", "cp1251": "It is Cyrillic", WESTERN: "It is Western European"}
    ways = [Way("encoding", other, words) for other, words in others.items() if other != encoding]
    ways = [way for way in ways if _is_in(raw[:_FIRST], way.value, is_cut=True)]
    return encoding, Finding(f"The text is not UTF-8, it was read as {named}.", ways=tuple(ways))


def _is_in(raw: bytes, encoding: str, is_cut: bool = False) -> bool:
    """Tell whether bytes are text in an encoding, piece by piece; with `is_cut`, but for the last sign."""
    decoder, view = codecs.getincrementaldecoder(encoding)(), memoryview(raw)
    try:
        for start in range(0, len(raw), _HEAD):
            decoder.decode(view[start : start + _HEAD])
        decoder.decode(b"", final=not is_cut)
    except UnicodeDecodeError:
        return False
    return True


def as_utf8(raw: bytes, encoding: str | None = None) -> tuple[bytes, tuple[Finding, ...]]:
    """Return text as UTF-8 without byte order mark, and a finding when its encoding was guessed."""
    findings: tuple[Finding, ...] = ()
    if encoding is not None:
        try:
            return raw.decode(encoding).removeprefix("\ufeff").encode(), ()
        except UnicodeError:
            raise InvalidData(f"The file is not text in the encoding {encoding}: name another one.") from None
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            raw = raw.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise InvalidData("The file starts like UTF-16 text but is not: save it as UTF-8 CSV.") from None
    raw, head = raw.removeprefix(codecs.BOM_UTF8), raw[:_FIRST]
    if b"\0" in head:
        raise InvalidData(f"The file is not text, and of no format that is read here: {_FORMATS}.")
    if not raw.isascii() and not _is_in(raw, "utf-8"):
        control = sum(head.count(code) for code in range(32) if code not in b"\t\n\r\f")
        if control > len(head) / 100:
            raise InvalidData(f"The file is not text, and of no format that is read here: {_FORMATS}.")
        encoding, finding = guessed(raw)
        raw, findings = raw.decode(encoding, errors="replace").encode(), (finding,)
    return raw, findings
