"""Names of samples and features: made unique, numbered, or those of pixels.

Readers make them for each `Dataset`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, TypeAlias

from nspca.presentation.phrases import things

Names: TypeAlias = "tuple[str, ...] | Numbered"


def were(number: int, noun: str) -> str:
    """Return a number with its noun and the verb, such as "1 line was" or "3 lines were"."""
    return f"{things(number, noun)} {'was' if number == 1 else 'were'}"


def unique_names(names: Sequence[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return distinct names, and a note when some were changed.

    Empty names become numbered ones, and repeated names get a number in parentheses. `what` is a noun such as
    "feature" or "sample", for the numbered names and the note.
    """
    names = [name if name.strip() else f"{what} {i}" for i, name in enumerate(names, 1)]
    taken, out, changed = set(names), [], []
    last_number: dict[str, int] = {}
    for name in names:
        if name not in last_number:
            last_number[name] = 1
            out.append(name)
            continue
        changed.append(name)
        candidate = name
        while candidate in taken:
            last_number[name] += 1
            candidate = f"{name} ({last_number[name]})"
        taken.add(candidate)
        out.append(candidate)
    notes = (
        (f'{things(len(changed), f"repeated {what} name")} got a number, the first is "{changed[0][:60]}".',)
        if changed
        else ()
    )
    return tuple(out), notes


@dataclass(frozen=True, eq=False, slots=True)
class Numbered(Sequence[str]):
    """A sequence of names such as ``("sample 1", "sample 2", ...)``, each made on access.

    A tuple of a million such texts would take 60 MB.
    """

    what: str
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, which: Any) -> Any:
        at = range(1, self.length + 1)[which]
        return tuple(f"{self.what} {i}" for i in at) if isinstance(at, range) else f"{self.what} {at}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbered):
            return (self.what, self.length) == (other.what, other.length)
        return isinstance(other, tuple) and len(other) == self.length and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))


def numbered(what: str, count: int) -> Names:
    """Return `count` names such as ``("sample 1", "sample 2", ...)``, for files without names."""
    return Numbered(what, count)


def frozen(names: Sequence[str]) -> Names:
    """Return names in the form that a `Dataset` keeps: a tuple, or `Numbered`."""
    return names if isinstance(names, Numbered) else tuple(names)


def pixel_names(shape: tuple[int, int]) -> tuple[str, ...]:
    """Return the names of the pixels of an image, row by row, counted from 1 at the top left."""
    return tuple(f"row {r} column {c}" for r in range(1, shape[0] + 1) for c in range(1, shape[1] + 1))


def printable(name: str) -> str:
    """Return a name on one line, with control characters replaced by blanks."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())


def short(text: str) -> str:
    """Return a text on one line and of at most 40 characters, for use in a message."""
    text = printable(text)
    return text if len(text) <= 40 else text[:37] + "..."


def quote_names(names: Iterable[str], most: int = 5) -> str:
    """Return names for a message: the first ones in quotes, and the number of further ones."""
    names = [printable(name)[:60] for name in names]
    listed = ", ".join(f'"{name}"' for name in names[:most])
    return listed + (f" and {len(names) - most} more" if len(names) > most else "")
