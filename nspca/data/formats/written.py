"""Read the text of Word documents (.docx) and of PDF files."""

import html
import io
import re

from nspca.data.limits import check_archive
from nspca.errors import InvalidData, needs
from nspca.validation.archive import open_zip, parsing, unzip_member

ENDINGS = (".docx", ".pdf")
"""Endings of the files."""
MOST_PAGES = 5000
"""Maximum pages of a PDF file, about ten thick books. A page takes some hundredths of a second."""
_BODY = "word/document.xml"
_RUN = re.compile(r"<w:t(?: [^<>]*)?>([^<]*)</w:t>|<w:(?:tab|br|cr)\b")


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
    check_archive(len(raw), members)
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
