"""Fill the numbers and tables of docs/note.md from what the benchmarks stored, and draw its figures.

    python -m scripts.note            writes the figures into docs/figures
    python -m scripts.note --print    prints the note with all numbers and tables

`make docs` does the same. The tables are read from docs/results.md, docs/tables and
sample_data/papers/exact-methods.json. Nothing is typed by hand: a marker such as ``<<table joint>>`` or
``<<exact-count>>`` stands where a table or a number belongs. A marker without a table is an error.
"""

import csv
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from benchmarks.optimal import REAL
from benchmarks.shared import DOCS, head, row
from nspca.data import SAMPLES
from nspca.papers import exact

ROOT = DOCS.parent
FIGURES = DOCS / "figures"
SOURCES = (
    DOCS / "results.md",
    DOCS / "tables" / "certificates.csv",
    DOCS / "tables" / "optimal.csv",
    ROOT / "sample_data" / "papers" / "exact-methods.json",
)
"""Files whose change makes the note another one."""
CHECKER = [*(ROOT / "nspca" / "checker").glob("*.py")]
MARKER = re.compile(r"<<([\w -]+)>>")


@dataclass(frozen=True)
class Table:
    """A Markdown table: the texts of its header and of its rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def pick(self, *names: str) -> "Table":
        """Return the first columns whose headers begin with `names`, in their order."""
        found = {name: [j for j, text in enumerate(self.header) if text.startswith(name)] for name in names}
        if missing := [name for name, places in found.items() if not places]:
            raise ValueError(f"a table must have a column {missing[0]!r}, got {', '.join(self.header)}")
        return self._at([places[0] for places in found.values()])

    def texts(self, name: str) -> list[str]:
        """Return the texts of the first column whose header begins with `name`."""
        return [text for (text,) in self.pick(name).rows]

    def without(self, *names: str) -> "Table":
        """Return the table without every column whose header begins with one of `names`."""
        return self._at([j for j, text in enumerate(self.header) if not text.startswith(names)])

    def _at(self, places: list[int]) -> "Table":
        header, *rows = (tuple(line[place] for place in places) for line in (self.header, *self.rows))
        return Table(header, tuple(rows))

    def markdown(self) -> str:
        """Return the table as Markdown."""
        return "\n".join([head(self.header), *map(row, self.rows)])


def tables(page: str) -> Iterable[tuple[str, Table]]:
    """Yield the heading above every table of a Markdown page, and the table."""
    heading, lines = "", []
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            continue
        if lines:
            header, _, *rows = lines
            yield heading, Table(tuple(header), tuple(map(tuple, rows)))
            lines = []
        if line.startswith("#"):
            heading = line.lstrip("# ")


@cache
def result(heading: str) -> Table:
    """Return the first table below a heading of docs/results.md."""
    for found, table in tables((DOCS / "results.md").read_text("utf-8")):
        if found == heading:
            return table
    raise ValueError(f"docs/results.md must have a table below the heading {heading!r}")


def stored(name: str) -> Table:
    """Return a table of docs/tables."""
    header, *rows = csv.reader((DOCS / "tables" / f"{name}.csv").read_text("utf-8").splitlines())
    return Table(tuple(header), tuple(map(tuple, rows)))


# --- tables ---------------------------------------------------------------------------------------


def certificates() -> Table:
    """Return single components at two efforts: what is proved, and the seconds."""
    named = [f"{effort}: {what}" for effort in ("standard", "thorough") for what in ("at least", "seconds")]
    return stored("certificates").pick("data", "k", *named)


def joint() -> Table:
    """Return disjoint components with what is proved of them."""
    table = result("Several components").pick("run", "joint", "standard: proved", "thorough: proved")
    return Table(("run", "total", *table.header[2:]), table.rows)


def exact_methods() -> Table:
    """Return the published matrices: theirs and ours for any sign, ours for nonnegative weights."""
    header = (
        "matrix", "n", "k", "published, any sign", "value", "proved", "CPU s",
        "nonnegative", "proved", "CPU s",
    )  # fmt: skip
    return Table(header, tuple(tuple(exact.cells(row)) for row in exact.stored()))


def ladder() -> Table:
    """Return what each part of a witness proves of one problem, computed and verified now."""
    from scripts import note_figures

    return Table(("witness", "bound", "proved"), note_figures.ladder())


TABLES: dict[str, Callable[[], Table]] = {
    "certificates": certificates,
    "standardised": lambda: result("Standardised tables").without("target"),
    "joint": joint,
    "exact": exact_methods,
    "optimal": lambda: stored("optimal").without("MB", "check"),
    "ladder": ladder,
}


# --- numbers --------------------------------------------------------------------------------------


def answers() -> list[tuple[exact.Row, exact.Ours]]:
    """Return every problem of the published matrices with its answer, both signs."""
    return [(row, one) for row in exact.stored() for one in (row.signed, row.nonneg)]


def still_open() -> str:
    """Return a sentence that names the matrices that are not proved optimal."""
    names = sorted({row.matrix for row, one in answers() if not one.is_optimal})
    return f"The others are those of {', '.join(names)}." if names else ""


def largest_optimal() -> str:
    """Return the largest number of features of a proved optimum, with its data and k."""
    features = {one.name: SAMPLES[one.source].shape[1] for one, _ in REAL if one.source in SAMPLES}
    rows = TABLES["optimal"]().pick("data", "k", "proved").rows
    proved = [(features.get(name, 0), name, k) for name, k, share in rows if share == "optimal"]
    n, name, k = max(proved, key=lambda one: (one[0], int(one[2])))
    return f"{n} ({name}, k = {k})"


def caption(name: str) -> str:
    """Return what a computed figure or table says of its problem."""
    from scripts import note_figures

    return note_figures.CAPTIONS[name]()


NUMBERS: dict[str, Callable[[], str]] = {
    "exact-count": lambda: str(len(answers())),
    "exact-optimal": lambda: str(sum(one.is_optimal for _, one in answers())),
    "exact-open": still_open,
    "refutation": lambda: exact.refutation(exact.stored()),
    "largest-optimal": largest_optimal,
    "checker-lines": lambda: str(sum(len(path.read_text("utf-8").splitlines()) for path in CHECKER)),
    "circle-caption": lambda: caption("circle"),
    "ladder-caption": lambda: caption("ladder"),
}


def replaced(marker: re.Match[str]) -> str:
    """Return the table or the number of a marker."""
    kind, _, name = marker[1].partition(" ")
    if kind == "table" and name in TABLES:
        table = TABLES[name]()
        return f"```{{tabularcolumns}} {'l' * len(table.header)}\n```\n\n{table.markdown()}"
    if marker[1] in NUMBERS:
        return NUMBERS[marker[1]]()
    raise ValueError(f"docs/note.md has the marker {marker[0]}, which no table and no number is known for")


def fill(text: str) -> str:
    """Return the text of the note with a table or a number for every marker."""
    return MARKER.sub(replaced, text)


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(fill((DOCS / "note.md").read_text("utf-8")))
    else:
        from scripts import note_figures

        note_figures.draw(FIGURES)
