"""Which columns of a table are features: the same in memory, in shards and in a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nspca.data.dataset import is_whole
from nspca.data.how import How
from nspca.data.look import MISSING, Look, are_few, is_number, quoted, short
from nspca.errors import InvalidData, NotNumbers, shown


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are, by their numbers.

    Parameters
    ----------
    features : tuple of int
    ids, labels : int or None
        Of the names and the groups of the samples.
    aside : tuple of int
        All that are no features.
    """

    features: tuple[int, ...]
    ids: int | None
    labels: int | None
    aside: tuple[int, ...]

    @property
    def others(self) -> tuple[int, ...]:
        """Texts, and what is empty: left out, or refused."""
        return tuple(i for i in self.aside if i not in (self.ids, self.labels))

    def set_aside(self, found: Look) -> str:
        """`` (not counted: "name" as sample names, "unit" as text)``; empty when all columns are features."""
        texts = dict.fromkeys(self.others, "text") | dict.fromkeys(found.empty_columns, "empty")
        kinds = texts | {self.ids: "sample names", self.labels: "labels"}
        said = [f"column{quoted(found, i)} as {kinds[i]}" for i in self.aside]
        return f" (not counted: {', '.join(said[:8])}{', ...' * (len(said) > 8)})" if said else ""


def columns(found: Look, how: How) -> Columns:
    """The columns of a table with samples in rows."""
    ids = found.id_column if how.id_column is None else find_column(found, how.id_column, "id")
    labels = None if how.label_column is None else find_column(found, how.label_column, "label")
    aside = {*found.text_columns, *found.empty_columns, *(i for i in (ids, labels) if i is not None)}
    features = tuple(i for i in range(len(found.columns)) if i not in aside)
    return Columns(features, ids, labels, tuple(sorted(aside)))


def taken_as_names(found: Look, chosen: Columns, how: How) -> tuple[str, ...]:
    """What is said of sample names that nobody named."""
    if chosen.ids is None or how.id_column is not None:
        return ()
    return (
        f"The first column{quoted(found, chosen.ids)} holds distinct names and was taken as sample names.",
    )


def find_column(found: Look, wanted: "str | int", role: str) -> int:
    """A column by name or by number from 0."""
    if isinstance(wanted, str):
        if wanted in found.columns:
            return found.columns.index(wanted)
        raise InvalidData(
            f'There is no column "{short(wanted)}" to take as the {role} column: the columns are '
            f"{_some(found.columns)}."
        )
    if not is_whole(wanted) or not 0 <= wanted < len(found.columns):
        last = len(found.columns) - 1
        raise InvalidData(f"The {role} column must be a name or between 0 and {last}, got {shown(wanted)}.")
    return int(wanted)


def left_out(found: Look, i: int, texts: Mapping[str, int], count: int) -> tuple[str, bool]:
    """What is said of a column that is no feature, and whether it may be the labels.

    Parameters
    ----------
    found : Look
    i : int
    texts : mapping of str to int
        Its different texts, and the row, from 1, that each is in first.
    count : int
        Of its rows.

    Raises
    ------
    NotNumbers
        For texts of which nobody knows what they are.
    """
    held = sorted((row, text) for text, row in texts.items() if text.strip())
    if i in found.empty_columns or not held:
        return f"Column{quoted(found, i)} is empty and was left out.", False
    if are_few(len(texts), count):
        return (
            f"Column{quoted(found, i)} holds {len(different(texts))} different texts and was left out; it "
            "can be named as the label column."
        ), True
    words = [(row, text) for row, text in held if not is_number(text, found.decimal)]
    row, text = (words or held)[0]
    what, instead = ("text", "") if words else ("numbers stored as text", "save them as numbers, or ")
    raise NotNumbers(
        f"Every column must hold numbers, but column{quoted(found, i)} holds {what} "
        f'("{short(text)}" in row {row}): {instead}name it as the id or label column, or remove it.',
        i,
    )


def different(cells: Sequence[str] | Mapping[str, int]) -> set[str]:
    """The texts among cells."""
    return {cell.strip() for cell in cells if cell.strip().lower() not in MISSING}


def _some(names: Sequence[str]) -> str:
    return ", ".join(f'"{short(name)}"' for name in names[:8]) + (", ..." if len(names) > 8 else "")
