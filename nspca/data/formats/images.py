"""Read images from an archive or a folder: each image is a sample, each pixel a feature.

Images of one size are read unchanged. Others are converted on request to grey squares of one size.
"""

import io
import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import Any, cast

import numpy as np

from nspca.data.dataset import Dataset
from nspca.data.findings import Finding, as_findings
from nspca.data.formats.base import Format, Source
from nspca.data.formats.strings import is_aside, short_name, visible
from nspca.data.limits import MAX_FILES, MAX_PIXELS, Files, check_dense, check_growth
from nspca.data.names import pixel_names, quote_names, unique_names
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Late, Way
from nspca.progress import Event, Report
from nspca.validation.archive import parsing

Image: Any = Late("PIL.Image", "images", "files")
ImageOps: Any = Late("PIL.ImageOps", "images", "files")
_FORMATS = ("PPM", "PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF")
"""Image formats for Pillow. Uploads can reach the decoder of each, so the list is short."""
EXTENSIONS = (
    ".pgm", ".ppm", ".pbm", ".pnm", ".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif",
)  # fmt: skip
ONE_IMAGE = re.compile(
    rb"\x89PNG|\xff\xd8\xff|RIFF.{4}WEBP|P[1-6]\s+[#\d]|GIF8|II\*\0|MM\0\*|BM.{4}\0\0\0\0", re.DOTALL
)
"""First bytes of a single image. A table may well begin with a column P1."""
_ORIENTATION = 0x0112
"""Number of the EXIF tag that says how a photograph is turned."""
_TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods")
USUAL_SIDE = 64
"""Side in pixels that pages offer for converted images. Faces and objects are still recognisable."""
CONVERT = (Way("image_size", USUAL_SIDE, f"Make them grey, {USUAL_SIDE} x {USUAL_SIDE} pixels"),)
"""The way out for images that are unlike."""
MAX_PHOTO = 2**25
"""Maximum pixels of an image before conversion: 33 million, which take 130 MB while they are decoded."""
_REPORT_EVERY = 500
"""Images between two progress events."""


def read_images(files: Files, name: str, report: Report, side: int | None, packed: int = 0) -> Dataset:
    """Return the grey levels of images as a Dataset. `packed` are the bytes of the archive, 0 for a folder.

    With `side`, the middle square of each image is resized to so many pixels a side, and unreadable files are
    left out, with a note. Otherwise all images must have the same size.
    """
    stacked, labels, notes = _stack(files, report, side, packed)
    paths = [PurePosixPath(label.replace("\\", "/")) for label in labels]
    sample_names, renamed = unique_names([path.stem for path in paths], "sample")
    folders = [path.parent.name for path in paths]
    grouped = 1 < len(set(folders)) < len(labels)
    if grouped:
        notes.append("The folder of each image was taken as its label.")
    groups = {"folder": np.array(folders, dtype=np.str_)} if grouped else {}
    shape = stacked.shape[1], stacked.shape[2]
    shrunk = f"Every image was made grey, and its middle square shrunk to {side} x {side} pixels"
    others = [Way("image_size", one, f"{one} x {one}") for one in (32, USUAL_SIDE, 128) if one != side]
    made = [] if side is None else [Finding(shrunk, ways=tuple(others))]
    return Dataset(
        name=name,
        X=stacked.reshape(len(labels), -1),
        feature_names=pixel_names(shape),
        sample_names=sample_names,
        labels=groups.get("folder"),
        image_shape=shape,
        kind="image",
        findings=as_findings((*made, *notes, *renamed)),
        label_columns=groups,
        label_name="folder" if grouped else "",
    )


def _stack(
    files: Files, report: Report, side: int | None, packed: int
) -> tuple[np.ndarray, list[str], list[str]]:
    """Return the grey levels of images, the labels of those that could be read, and notes."""
    stacked = np.empty(0)
    labels: list[str] = []
    unread: list[str] = []
    notes: list[str] = []
    for i, (label, read) in enumerate(files):
        if i % _REPORT_EVERY == 0:
            report(Event("reading images", done=i, total=len(files)))
        try:
            pixels = decode(read(), label, side, notes)
        except InvalidData:
            if side is None:
                raise
            unread.append(label)
            continue
        if not labels:
            check_dense(len(files), pixels.size)
            if packed and side is None:  # before the names of a million pixels are written
                grown = len(files) * pixels.nbytes
                check_growth(grown, packed, "ZIP", "shrink the images, or leave out blank ones")
            stacked = np.empty((len(files), *pixels.shape), dtype=pixels.dtype)
        if pixels.shape != stacked.shape[1:]:
            wanted = " x ".join(map(str, stacked.shape[1:]))
            raise InvalidData(
                f'All images must have one size, but the first has {wanted} pixels and "{short_name(label)}" '
                f"{pixels.shape[0]} x {pixels.shape[1]}: cut them to one size.",
                CONVERT,
            )
        if pixels.dtype != stacked.dtype:
            stacked = stacked.astype(np.float64)
            notes.append("Some images have 8 bits and others more: their grey levels are not on one scale.")
        stacked[len(labels)] = pixels
        labels.append(label)
    listed = quote_names(map(short_name, unread))
    if unread and len(labels) < 2:
        raise InvalidData(f"Two readable images are needed, got {len(labels)}: {listed} cannot be read.")
    if unread:
        notes.append(f"Left out because they cannot be read: {listed}.")
    return stacked[: len(labels)], labels, [*dict.fromkeys(notes)]


def decode(raw: bytes, label: str, side: int | None, notes: list[str]) -> np.ndarray:
    """Return the grey levels (rows, columns) of one image, turned upright.

    They are uint8, or float64 where an image has more than 8 bits. With `side`, they are those of the middle
    square, resized to (side, side). The size is checked before the pixels are decoded. `notes` gets sentences
    about what was changed.
    """

    def convert(image: Any) -> np.ndarray:
        deep = image.mode.startswith(("I", "F"))
        if side is not None:
            image.draft("L", (side, side))  # a JPEG is decoded at an eighth of its size where that is enough
            if deep:
                levels = np.asarray(image, dtype=np.float64)
                levels = 255 * (levels - levels.min()) / max(float(np.ptp(levels)), 1e-300)
                image = Image.fromarray(levels.astype(np.uint8))
            grey = _upright(image, notes).convert("L")
            return np.array(ImageOps.fit(grey, (side, side), Image.Resampling.BOX))
        image = _upright(image, notes)
        if deep:
            return np.array(image).astype(np.float64)
        if image.mode not in ("L", "1"):
            notes.append("Colour images were turned into grey levels.")
        return np.array(image.convert("L"))

    return cast(np.ndarray, _opened(raw, label, MAX_PIXELS if side is None else MAX_PHOTO, convert))


def _upright(image: Any, notes: list[str]) -> Any:
    """Return an image turned as its orientation says, with white behind what is transparent."""
    if getattr(image, "n_frames", 1) > 1:
        notes.append("Of images with several pages or frames, the first was taken.")
    if image.getexif().get(_ORIENTATION, 1) != 1:
        notes.append("Images with an orientation were turned upright.")
        image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        clear = image.convert("RGBA")
        if min(clear.getchannel("A").tobytes()) < 255:
            notes.append("White was put behind transparent pixels.")
            image = Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear).convert("RGB")
    return image


def _opened(raw: bytes, label: str, most: int, convert: Callable[[Any], Any]) -> Any:
    damaged = (
        f'"{short_name(label)}" is not an image that can be read, or it is damaged: give PNG or JPEG files.'
    )
    with parsing(damaged, CONVERT), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image = Image.open(io.BytesIO(raw), formats=_FORMATS)
        except Image.DecompressionBombError:
            raise InvalidData(
                f'Image "{short_name(label)}" says it has far more than {most} pixels, the most that is '
                "read: shrink it."
            ) from None
        if image.width * image.height > most:
            raise InvalidData(
                f'Image "{short_name(label)}" has {image.width} x {image.height} pixels; at most '
                f"{most} are read: shrink it.",
                CONVERT if image.width * image.height <= MAX_PHOTO else (),
            )
        return convert(image)


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the images of a ZIP or folder, or the pages of one image."""
    if source.files is None:
        pages = _list_pages(source.raw)
        data = read_images(pages, source.title, report, options.image_size)
        said = f"Each of the {len(pages)} pages or frames of the image is a sample."
        return data.noting(said)
    files = visible(source.files)
    images = [one for one in files if _is_image(one[0])]
    packed = 0 if source.path is not None else source.given_bytes
    data = read_images(images, source.title, report, options.image_size, packed)
    beside = find_labels(source)
    aside = [name for name, _ in files if not _is_image(name) and (beside is None or name != beside[0])]
    if not aside:
        return data
    said = f"Files that are no images were left aside: {quote_names(map(short_name, aside))}."
    return data.noting(said)


def _list_pages(raw: bytes) -> Files:
    """Return the pages or frames of one image as files of their own."""

    def page(number: int) -> bytes:
        def copy(image: Any) -> bytes:
            image.seek(number)
            stream = io.BytesIO()
            image.copy().save(stream, "TIFF")
            return stream.getvalue()

        return cast(bytes, _opened(raw, f"page {number + 1}", MAX_PHOTO, copy))

    try:
        count = _opened(raw, "the image", MAX_PHOTO, lambda image: getattr(image, "n_frames", 1))
    except InvalidData as error:
        raise InvalidData(error.message) from None  # another size makes one image no data set
    if count < 2:
        raise InvalidData(
            "This is one image, which is one sample: at least two are needed, so give a ZIP or a folder of "
            "images of one size."
        )
    return [(f"page {number + 1}", partial(page, number)) for number in range(min(count, MAX_FILES + 1))]


def find_labels(source: Source) -> tuple[str, Callable[[], bytes]] | None:
    """Return the only table beside images, which may have their labels."""
    tables = [
        one for one in visible(source.files) if one[0].lower().endswith(_TABLES) and not is_aside(one[0])
    ]
    return tables[0] if len(tables) == 1 else None


def _is_image(name: str) -> bool:
    return name.lower().endswith(EXTENSIONS)


def _has_images(source: Source) -> bool:
    """Tell whether a source is an image, or holds several; one beside a table is a picture of it."""
    if source.files is None:
        return ONE_IMAGE.match(source.first()) is not None
    names = [name for name, _ in visible(source.files)]
    count = sum(map(_is_image, names))
    return count > 1 or (count == 1 and not any(name.lower().endswith(_TABLES) for name in names))


FORMAT = Format("images", _has_images, read=read, labels=find_labels, is_apart=True)
