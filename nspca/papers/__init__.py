"""Reproduce the figures and tables of the four papers, and compare the printed with the computed numbers.

>>> from nspca import papers
>>> outcome = papers.reproduce("asteris2014-figure-4")
>>> for claim in papers.claims(papers.ITEMS["asteris2014-figure-4"], outcome):
...     print(claim.printed.what, claim.printed.shown, claim.found, claim.verdict)

`ITEMS` lists every figure and table. `reproduce` computes one of them. `stored` returns an outcome that ships
with the project, computed from the original data. The module `report` writes outcomes as one HTML file, and
`uses` has the applications of the papers: gene selection and face detection. The page Papers, the command
`nspca papers` and `benchmarks.papers` use this package.
"""

import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from nspca.covariance.linalg import one_thread
from nspca.data.catalogue import sample_folder
from nspca.errors import InvalidOption
from nspca.papers import asteris2014, asteris2015, sigg2008, theorems, zass2006
from nspca.papers.item import PRINTED, VERDICTS, Claim, Found, Item, Outcome, Printed, claims, counts
from nspca.papers.originals import Absent, digest, missing, remedy
from nspca.progress import Report, silent

__all__ = [
    "ITEMS",
    "PAPERS",
    "VERDICTS",
    "Absent",
    "Claim",
    "Found",
    "Item",
    "Outcome",
    "Printed",
    "claims",
    "counts",
    "digest",
    "missing",
    "remedy",
    "reproduce",
    "stored",
]

PAPERS = {
    "asteris2014": "Asteris, Papailiopoulos, Dimakis 2014: Nonnegative Sparse PCA with Provable Guarantees",
    "asteris2015": "Asteris, Papailiopoulos, Kyrillidis, Dimakis 2015: Sparse PCA via Bipartite Matchings",
    "sigg2008": "Sigg, Buhmann 2008: Expectation-Maximization for Sparse and Non-Negative PCA",
    "zass2006": "Zass, Shashua 2006: Nonnegative Sparse PCA",
}

MODULES = {
    "asteris2014": asteris2014, "asteris2015": asteris2015, "sigg2008": sigg2008, "zass2006": zass2006,
}  # fmt: skip
THEOREMS = {"asteris2014-theorem-1": theorems.single, "asteris2015-theorem-2": theorems.joint}
LABELS = {"asteris2014-theorem-1": "Theorems 1 and 2"}
"""Labels that do not follow from the name of an item."""


def _item(name: str, about: dict[str, Any]) -> Item:
    """Return an item with its label, such as "Figure 2 (left)" for the name "sigg2008-figure-2-left".

    Its figure or table is made by the function ``figure_2_left`` of the paper's module.
    """
    paper, kind, number, *part = name.split("-")
    label = f"{kind.capitalize()} {number}" + "".join(f" ({one})" for one in part)
    if label[-1].islower():  # 2a is printed as 2(a)
        label = f"{label[:-1]}({label[-1]})"
    make = THEOREMS.get(name) or getattr(MODULES[paper], "_".join([kind, number, *part]))
    needs = tuple(about.pop("needs", ()))
    return Item(name, LABELS.get(name, label), printed=PRINTED[name], make=make, needs=needs, **about)


_TABLE = Path(__file__).with_name("items.toml").read_text("utf-8")
ITEMS: dict[str, Item] = {name: _item(name, about) for name, about in tomllib.loads(_TABLE).items()}
"""Every figure and table of the four papers by its name, from the table ``items.toml``."""


def reproduce(name: str, report: Report | None = None) -> Outcome:
    """Compute one figure or table from the originals on this machine, with one thread.

    With several threads, those that wait would count as CPU seconds, up to 0.1 for each call.

    Parameters
    ----------
    name : str
        A key of `ITEMS`.
    report : callable, optional
        Gets progress events and may raise `Cancelled`.

    Returns
    -------
    Outcome
        Empty when all its data are missing. When some are missing, the outcome lacks their rows.
    """
    item, started = find_item(name), time.process_time()
    with one_thread(), threadpool_limits(1, user_api="openmp"):  # each thread has its own limit of OpenMP
        try:
            found = item.make(report or silent)
            said = f"{found.said} {item.said}".strip()
            outcome = replace(found, said=said, reasons={**item.reasons, **found.reasons})
        except Absent as absent:
            outcome = Outcome(said=str(absent))
    return replace(outcome, seconds=time.process_time() - started, computed=time.time())


def find_item(name: str) -> Item:
    """Return the figure or table called `name`.

    Raises
    ------
    InvalidOption
        For an unknown name.
    """
    if name not in ITEMS:
        raise InvalidOption(f"a figure or table is one of {', '.join(ITEMS)}, got {name!r}")
    return ITEMS[name]


def stored(name: str) -> Outcome | None:
    """Return the outcome of an item that ships with the project, or None; computed from the original data."""
    path = sample_folder() / "papers" / f"{find_item(name).name}.json"
    return Outcome.from_json(path.read_bytes()) if path.is_file() else None
