"""Every number and statement that the papers print about their experiments, from the table ``printed.csv``.

`nspca.papers` puts these entries into its items, where computed numbers are compared with them.
A row has the name of its item and the fields of a `Printed`; ``low`` and ``high`` are the ends of
the printed axis. Statements of the text are listed with the figure or table that they are about. Places are
pages of the proceedings, counted from 1, or sections of the 2014 paper.
"""

import csv
from pathlib import Path
from typing import cast

from nspca.papers.item import Kind, Printed


def _read(path: Path) -> dict[str, tuple[Printed, ...]]:
    found: dict[str, tuple[Printed, ...]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            value = float(row["value"]) if row["value"] else None
            axis = (float(row["low"]), float(row["high"])) if row["low"] else None
            subject = row["key"], row["what"], row["where"], cast(Kind, row["kind"])
            entry = Printed(*subject, value, row["shown"], axis)
            found[row["item"]] = (*found.get(row["item"], ()), entry)
    return found


PRINTED = _read(Path(__file__).with_name("printed.csv"))
"""Printed numbers and statements by the name of their item, see `nspca.papers.ITEMS`."""
