"""Texts as UTF-8. Another encoding is guessed, by charset-normalizer where it is installed."""

import codecs
import re
import unicodedata
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
_USUAL = ("mac_roman", "cp850", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp1253")
"""Other encodings of one byte that programs of some country or age write."""
_WORD = re.compile(r"[A-Za-z]*[^\x00-\x7f\xa0‘’“”„–—…«»](?:(?![’–—])[A-Za-z\x80-\uffff])*")
"""Letters around a sign beyond ASCII, with signs that stand between letters where the encoding is wrong.

An apostrophe and dashes end a word in any text.
"""
_ENDS = re.compile(r"^[^\w\ufffd]*[µªº¹²³¼½¾]*|[^\w\ufffd]*[µªº¹²³¼½¾]*$")
"""Signs around a word, such as those of units."""
_KATAKANA = {"cp932", "shift_jis", "shift_jis_2004", "shift_jisx0213"}
"""Japanese encodings in which one byte is a sign of katakana."""
_CYRILLIC = ("cp1251", "koi8_r")
_COMMON = re.compile("[оеаинт]", re.IGNORECASE)
"""The commonest letters of Russian."""
_CENTRAL = {"Polish", "Czech", "Slovak", "Hungarian", "Romanian", "Croatian", "Slovene", "Turkish"}
"""Languages that need another Latin encoding than the Western one."""


def guess_encoding(raw: bytes) -> str:
    """Return the probable encoding of a text that is not UTF-8."""
    sample = b"\n".join(line for line in re.split(rb"[\r\n]+", raw[:_HEAD]) if not line.isascii())[:_SAMPLE]
    encodings = [WESTERN, *_USUAL]
    try:
        best = charset_normalizer.from_bytes(sample).best()
    except NSPCAError:  # the package is not installed
        best = None
    is_ascii = best is not None and b"a1".decode(best.encoding) == "a1"  # not so on mainframes
    is_pair = best is not None and (not best.multi_byte_usage or re.search(rb"[\x80-\xff]{2}", sample))
    if best is not None and is_ascii and is_pair and not best.encoding.startswith(("utf_", "mac_", "cp1006")):
        # Simplified Chinese is often written with signs that only the largest of its encodings has.
        found = "gb18030" if best.encoding in ("gb2312", "gbk", "hz") else str(best.encoding)
        # Katakana of half width without any sign before ﾀ are Cyrillic capitals, which have the same bytes.
        if found in _KATAKANA and re.fullmatch(rb"[\x00-\x7f\xc0-\xdf]*", sample):
            found = "cp1251"
        encodings.insert(0 if best.language in _CENTRAL else 1, found)
    likely = max(encodings, key=lambda encoding: _share_of_words(sample, encoding))
    if likely in _CYRILLIC:  # what are small letters in one of them are capitals in the other
        likely = max(_CYRILLIC, key=lambda name: len(_COMMON.findall(sample.decode(name, errors="replace"))))
    return likely


def _share_of_words(sample: bytes, encoding: str) -> float:
    """Return the share of the words beyond ASCII in a sample that are words when read in an encoding.

    Signs around words, such as °C and m², tell nothing. Without any word the share is one.
    """
    words = _WORD.findall(sample.decode(encoding, errors="replace"))
    told = [
        word
        for word in words
        if not _ENDS.sub("", word).isascii() or len(word) == len(word.encode()) // 2 > 1
    ]
    return (1 + sum(map(_is_word, told))) / (1 + len(told))


def _is_word(word: str) -> bool:
    """Tell whether letters are of one script, with capitals as words have them.

    In the Latin script, no three accented letters follow each other.
    """
    letters = _ENDS.sub("", word)
    scripts = {(unicodedata.name(letter, "").split() or [""])[0] for letter in letters}
    scripts = {name if name in ("LATIN", "CYRILLIC", "GREEK") else "" for name in scripts}
    has_case = scripts != {""}
    is_cased = letters[1:].islower() or letters.isupper() or len(letters) == 1
    is_plain = scripts != {"LATIN"} or not re.search(r"[^\x00-\x7f]{3}", letters)
    begins = unicodedata.category(word[0]) != "Mn"
    is_wrong = re.search("[\ufffd\u2500-\u259f]", word)  # signs that draw boxes, as DOS has them
    return len(scripts) == 1 and begins and is_plain and (is_cased or not has_case) and not is_wrong


def guessed(raw: bytes) -> tuple[str, Finding]:
    """Return the probable encoding of a text that is not UTF-8, and the finding that says so."""
    encoding = guess_encoding(raw)
    named = "Western European (cp1252)" if encoding == WESTERN else encoding
    others = {
        "gb18030": "It is Chinese",
        "cp932": "It is Japanese",
        "euc_jp": "It is Japanese in Unix",
        "euc_kr": "It is Korean",
        "cp1251": "It is Cyrillic",
        "koi8_r": "It is Cyrillic in Unix",
        "cp1255": "It is Hebrew",
        "cp1254": "It is Turkish",
        WESTERN: "It is Western European",
        "cp1250": "It is Central European",
        "iso8859_2": "It is Central European in Unix",
        "cp1253": "It is Greek",
        "mac_roman": "It is from an old Mac",
        "cp850": "It is from DOS",
    }
    head = raw[:_FIRST]
    ways = [Way("encoding", other, words) for other, words in others.items() if other != encoding]
    ways = [way for way in ways if _is_in(head, way.value, is_cut=True)]
    ways.sort(key=lambda way: -_share_of_words(head, way.value))  # the most probable ones first
    return encoding, Finding(f"The text is not UTF-8, it was read as {named}.", ways=tuple(ways[:6]))


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
    for half, wide in enumerate(("utf-16-be", "utf-16-le")):  # without a byte order mark, most of it ASCII
        if 4 * head[half::2].count(0) > len(head) and not head[1 - half :: 2].count(0):
            said = f"The text has no mark of its encoding and was read as {wide}"
            return as_utf8(raw, wide)[0], (Finding(f"{said}; the option encoding names another."),)
    if b"\0" in head:
        raise InvalidData(f"The file is not text, and of no format that is read here: {_FORMATS}.")
    if not raw.isascii() and not _is_in(raw, "utf-8"):
        control = sum(head.count(code) for code in range(32) if code not in b"\t\n\r\f")
        if control > len(head) / 100:
            raise InvalidData(f"The file is not text, and of no format that is read here: {_FORMATS}.")
        encoding, finding = guessed(raw)
        raw, findings = raw.decode(encoding, errors="replace").encode(), (finding,)
    return raw, findings
