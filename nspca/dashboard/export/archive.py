"""The ZIP file itself: equal files and an equal date make equal bytes."""

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
    """One file: what is in it, and what the README says of it; of several alike the first speaks for all."""

    content: bytes
    about: str = ""


def figures(pictures: Mapping[str, Picture], about: Mapping[str, str]) -> dict[str, File]:
    """Every picture as an SVG and a PNG file.

    Parameters
    ----------
    about : what each shows, by name
    """
    made = {}
    for name, picture in pictures.items():
        made[f"figures/{name}.svg"] = File(picture.svg, f"{about[name]}; scales to any size")
        made[f"figures/{name}.png"] = File(picture.png, "the same in pixels")
    return made


def zipped(files: Mapping[str, File], folder: str, made: datetime) -> bytes:
    """The files in a folder of their own.

    Parameters
    ----------
    files : by path inside the folder
    folder : str
        Brought to plain ASCII letters, digits, dots and hyphens.
    made : datetime
        The date of every file.
    """
    buffer, top = io.BytesIO(), ascii_name(folder)
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, file in files.items():
            info = zipfile.ZipInfo(f"{top}/{path}", made.timetuple()[:6])
            info.external_attr = 0o644 << 16  # readable for all where it is unpacked
            info.create_system = 3  # what the line above is meant for; else it depends on this machine
            how = zipfile.ZIP_STORED if path.endswith(PACKED) else zipfile.ZIP_DEFLATED
            archive.writestr(info, file.content, compress_type=how)
    return buffer.getvalue()


def ascii_name(text: str) -> str:
    """A name that every system takes for a file's."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.") or "nspca"
