"""Files in memory, as bytes."""

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def saved(write: Callable[..., Any], *given: Any, **options: Any) -> bytes:
    """Return the bytes that a function writes into a stream, its first argument."""
    stream = io.BytesIO()
    write(stream, *given, **options)
    return stream.getvalue()


def npy(X: Any) -> bytes:
    """A NumPy file."""
    return saved(np.save, X)


def npz(**arrays: Any) -> bytes:
    """A compressed archive of NumPy arrays."""
    return saved(np.savez_compressed, **arrays)


def archive(files: Mapping[str, bytes | str]) -> bytes:
    """A compressed ZIP of files by name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return stream.getvalue()


def rewritten(raw: bytes, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> bytes:
    """A ZIP with other files: `change` returns name and content of each, or None to leave one out."""
    with zipfile.ZipFile(io.BytesIO(raw)) as old:
        files = [change(info.filename, old.read(info)) for info in old.infolist()]
    return archive(dict(filter(None, files)))


def xlsx(change: Callable[[Any], Any] = lambda book: None, **sheets: Any) -> bytes:
    """A workbook of rows by the name of their sheet; one that is called "hidden" is hidden."""
    import openpyxl  # late, since few of the tests with files need it

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if name == "hidden" else "visible"
    change(book)
    return saved(book.save)
