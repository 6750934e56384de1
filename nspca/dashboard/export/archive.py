"""Write the ZIP file of an export for `whole`. Equal files with an equal date give equal bytes."""

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nspca.dashboard.components.pictures import Picture

PACKED = (".png", ".npz")  # compressed already


@dataclass(frozen=True)
class File:
    """A file of an export: its bytes and its description in the README, "" for one like the file before."""

    content: bytes
    about: str = ""


def figures(pictures: Mapping[str, Picture], about: Mapping[str, str]) -> dict[str, File]:
    """Return an SVG and a PNG file for every picture.

    Parameters
    ----------
    pictures : pictures by name
    about : descriptions by name
    """
    made = {}
    for name, picture in pictures.items():
        made[f"figures/{name}.svg"] = File(picture.svg, f"{about[name]}; scales to any size")
        made[f"figures/{name}.png"] = File(picture.png, "the same in pixels")
    return made


def zipped(files: Mapping[str, File], folder: str, made: datetime) -> bytes:
    """Return a ZIP with the files inside one folder.

    Parameters
    ----------
    files : files by their path inside the folder
    folder : str
        Name of the folder, converted by `ascii_name`.
    made : datetime
        Date of every file.
    """
    buffer, top = io.BytesIO(), ascii_name(folder)
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, file in files.items():
            info = zipfile.ZipInfo(f"{top}/{path}", made.timetuple()[:6])
            info.external_attr = 0o644 << 16  # readable for all after unpacking
            info.create_system = 3  # Unix, so that the line above applies on every machine
            how = zipfile.ZIP_STORED if path.endswith(PACKED) else zipfile.ZIP_DEFLATED
            archive.writestr(info, file.content, compress_type=how)
    return buffer.getvalue()


def ascii_name(text: str) -> str:
    """Return a text as a file name of ASCII letters, digits, dots and hyphens, valid on every system."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.") or "nspca"
