"""Guess the encoding of a text that is not UTF-8, by charset-normalizer where it is installed."""

import re
from typing import Any

from nspca.errors import Late, NSPCAError

charset_normalizer: Any = Late("charset_normalizer", "Encodings of texts", "files")
WESTERN = "cp1252"
"""The encoding of Western Europe, taken when nothing tells another."""
_SAMPLE = 2**13
"""Bytes from which an encoding is guessed: lines that are not ASCII, which alone tell it."""
_HEAD = 2**20
"""Bytes at the beginning of a text among which these lines are looked for."""
_LATIN = re.compile(r"cp(125[0247]|437|850|858)|latin_1|iso8859_(1|2|3|4|9|10|13|14|15|16)|mac_.*|hp_roman8")
"""Encodings of one byte whose letters are Latin: few bytes differ, and short texts do not tell which."""
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
    if best is None or (_LATIN.fullmatch(best.encoding) and best.language not in _CENTRAL):
        return WESTERN
    # Simplified Chinese is often written with signs that only the largest of its encodings has.
    return "gb18030" if best.encoding in ("gb2312", "gbk", "hz") else str(best.encoding)
