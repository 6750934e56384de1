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
