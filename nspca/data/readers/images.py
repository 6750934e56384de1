"""Images of one size from an archive or a folder: each pixel is a feature, row by row."""

import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import numpy as np
from PIL import Image

from nspca.data.dataset import Dataset, pixel_names, unique_names
from nspca.data.limits import MAX_PIXELS, check_dense, check_growth
from nspca.errors import InvalidData
from nspca.progress import Event, Report

_FORMATS = ("PPM", "PNG")
"""Lossless formats of image collections. Each further one would open another decoder to uploads."""
EXTENSIONS = (".pgm", ".ppm", ".pbm", ".pnm", ".png")
_REPORT_EVERY = 500


def read_images(
    files: Sequence[tuple[str, Callable[[], bytes]]], name: str, report: Report, packed: int | None = None
) -> Dataset:
    """Read the grey levels of images of one size.

    Parameters
    ----------
    files : sequence of (label, read)
        `label` is the name inside the archive or folder, only ever shown; `read()` gives the bytes.
    name : str
    report : callable
    packed : int, optional
        Bytes of the archive that they came in; None for a folder.
    """
    stacked: np.ndarray | None = None
    notes: dict[str, None] = {}
    for i, (label, read) in enumerate(files):
        pixels, note = decode(read(), label)
        if stacked is None:
            check_dense(len(files), pixels.size)
            if packed:
                check_growth(
                    len(files) * pixels.nbytes, packed, "ZIP", "shrink the images, or leave out blank ones"
                )
            stacked = np.empty((len(files), *pixels.shape), dtype=pixels.dtype)
        if pixels.shape != stacked.shape[1:]:
            wanted = " x ".join(map(str, stacked.shape[1:]))
            raise InvalidData(
                f'All images must have one size, but the first has {wanted} pixels and "{short_name(label)}" '
                f"{pixels.shape[0]} x {pixels.shape[1]}: cut them to one size."
            )
        if pixels.dtype != stacked.dtype:
            stacked = stacked.astype(np.float64)
        stacked[i] = pixels
        notes |= dict.fromkeys(note)
        if i % _REPORT_EVERY == 0:
            report(Event("reading images", done=i, total=len(files)))
    assert stacked is not None  # who calls has at least one file
    shape = stacked.shape[1:]
    sample_names, renamed = unique_names(
        [PurePosixPath(label.replace("\\", "/")).stem for label, _ in files], "sample"
    )
    folders = [PurePosixPath(label.replace("\\", "/")).parent.name for label, _ in files]
    grouped = 1 < len(set(folders)) < len(files)
    if grouped:
        notes["The folder of each image was taken as its label."] = None
    return Dataset(
        name=name,
        X=stacked.reshape(len(files), -1),
        feature_names=pixel_names(shape),
        sample_names=sample_names,
        labels=np.array(folders, dtype=np.str_) if grouped else None,
        image_shape=shape,
        kind="image",
        notes=(*notes, *renamed),
    )


def decode(raw: bytes, label: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the grey levels (rows, columns) of one image: uint8, or float64 when it has more than 8 bits.

    The size is checked before the pixels are decoded.
    """
    notes: tuple[str, ...] = ()
    try:
        with warnings.catch_warnings():
            # Pillow warns above its pixel limit and raises at twice that; here the warning is enough.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(raw), formats=_FORMATS)
            if image.width * image.height > MAX_PIXELS:
                raise InvalidData(
                    f'Image "{short_name(label)}" has {image.width} x {image.height} pixels; at most '
                    f"{MAX_PIXELS} are read: shrink it."
                )
            deep = image.mode.startswith(("I", "F"))
            if not deep and image.mode != "L":
                if image.mode != "1":
                    notes = ("Colour images were turned into grey levels.",)
                image = image.convert("L")
            pixels = np.array(image)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise InvalidData(
            f'Image "{short_name(label)}" says it has far more than {MAX_PIXELS} pixels, the most that is '
            "read: shrink it."
        ) from None
    except InvalidData:
        raise
    except Exception:
        # A damaged image makes decoders fail in many ways (struct, index, syntax, memory); all of them mean
        # the same to the user.
        raise InvalidData(
            f'"{short_name(label)}" is not an image that can be read, or it is damaged: give PGM or PNG '
            "files."
        ) from None
    return (pixels.astype(np.float64) if deep else pixels), notes


def short_name(label: str) -> str:
    """Return the last part of a name inside an archive, printable and shortened for a sentence."""
    last = PurePosixPath(label.replace("\\", "/")).name
    return "".join(c if c.isprintable() else "?" for c in last)[:60]
