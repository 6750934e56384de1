"""Write the README of an export for `whole`: a description of every file, and how to check the result."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import nspca
from nspca.dashboard.export.archive import File
from nspca.dashboard.open_data import Chosen


def text(about: Chosen, asked: str, files: Mapping[str, File], check: Sequence[str], made: datetime) -> bytes:
    """Return the README.

    Parameters
    ----------
    about : Chosen
        Data of the result.
    asked : str
        The question in one line.
    files : files by path; a file without description is like the one before
    check : lines about checking the result
    made : datetime
        Time of the export, in UTC.
    """
    data = about.dataset
    name = " ".join(data.name.split())
    width = max(map(len, files))
    lines = [f"  {path:<{width}}  {file.about}" for path, file in files.items() if file.about]
    said = [line for line in (" ".join(text.split()) for text in (data.provenance, *data.notes)) if line]
    parts = [name, "=" * len(name), "", *([*said, ""] if said else []), asked, ""]
    parts += [
        f"Made with nspca {nspca.__version__} on {made:%Y-%m-%d %H:%M} UTC.",
        "",
        "What is here",
        "------------",
        "",
        *lines,
        "",
    ]
    return "\n".join([*parts, "How to check it", "---------------", "", *check, ""]).encode()
