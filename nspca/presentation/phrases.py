"""Phrases about components, their data, counts, lists and methods, for objects, figures and pages."""

import re
from collections.abc import Sequence
from decimal import Decimal

from nspca.presentation.numerals import format_bound_share, percent_down, ratio_at_most

PREPARED = frozenset({"lee-seung", "equalised", "log2", "off-first", "with-header"})
"""Names of the preparations of `nspca.data.preparation`. A file may name others, which are quoted."""
RIVALS = {
    "auto": "best of several",
    "spannogram": "exact, few directions",
    "epsnet": "random directions",
    "cone": "exact, few directions",
    "spanspca": "exact, any sign",
    "em": "multiply and shrink",
    "tpower": "multiply and cut",
    "threshold": "largest weights",
    "greedy": "one by one",
    "spca": "scikit-learn, cut",
    "nmf": "scikit-learn, cut",
    "pca": "ordinary PCA, cut",
    "coordinate": "NSPCA of 2006",
    "joint": "all at once",
    "bipartite": "matching",
}
"""Plain words for what each method does, beside its name in a comparison."""
_DESCRIBED = re.compile(r"(.+) \([^()\s]+\)")
_SYMBOL = re.compile(r"[A-Z][A-Z0-9-]{1,7}")
LONGEST_NAME = 40
"""Maximum characters of a name shown in a list of names."""


def components(
    sizes: tuple[int, ...],
    nonneg: bool,
    forced: tuple[int, ...],
    subject: str,
    names: Sequence[str] | None = None,
) -> str:
    """Return a phrase such as ``nonnegative component of the centred data with at most 10 nonzero weights``.

    Other phrases name several components, each with a k of `sizes`, or the features that count among the k
    (`forced`, from 0) by their names, or numbers from 1. `subject` is a phrase of the function `subject`.
    """
    sign = "nonnegative " if nonneg else ""
    if forced:
        others = sizes[0] - len(forced)
        used = f"{_features(forced, names)} and " + (f"at most {others} more" if others else "no others")
        return f"{sign}component of {subject} that may use {used}"
    if len(sizes) == 1:
        return f"{sign}component of {subject} with at most {weights(sizes)}"
    each = "each" if len(set(sizes)) == 1 else "in turn"
    return f"{len(sizes)} disjoint {sign}components of {subject} with at most {weights(sizes)} {each}"


def subject(
    source: str, center: bool, scale: bool, prepared: tuple[str, ...] = (), weighted: bool = False
) -> str:
    """Return the name of the matrix or data: ``the centred data``, ``the covariance``, ...

    `source` is "covariance" or "data"; `prepared` names the preparations of the data, in order. Unknown names
    are words of a file, and quoted as such. `weighted` tells whether the samples have weights.
    """
    if source == "covariance":
        return "the covariance"
    how = "centred and scaled " if center and scale else "centred " if center else ""
    how = "scaled, not centred " if scale and not center else how
    steps = (step if step in PREPARED else f"what the file calls {quoted(step)}" for step in prepared)
    first = f" (prepared: {', '.join(steps)})" if prepared else ""
    kind = "weighted data" if weighted else "data"
    return f"the {how}{kind}{first}" + ("" if center or scale else " as they are, not centred")


def weights(sizes: tuple[int, ...]) -> str:
    """Return a phrase such as ``10 nonzero weights`` or ``4, 4 and 3 nonzero weights``."""
    if len(set(sizes)) == 1:
        return f"{sizes[0]} nonzero weight{'' if sizes[0] == 1 else 's'}"
    return f"{listed(list(map(str, sizes)))} nonzero weights"


def things(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, such as ``1 feature`` or ``3 features``; the plural may be given."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def short(name: str) -> str:
    """Return a name in one line, cut after `LONGEST_NAME` characters."""
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def symbol(name: str) -> str:
    """Return the symbol of a feature called ``SYMBOL description (ID)``, else its name without the ID."""
    found = _DESCRIBED.fullmatch(name)
    if found is None:
        return name
    first = found[1].split()[0]
    return first if _SYMBOL.fullmatch(first) else found[1]


def quoted(words: str) -> str:
    """Return words of a file in one line and in quotes, which they cannot end, cut as `short` does."""
    printable = "".join(mark if mark.isprintable() else " " for mark in words.replace('"', "'"))
    return f'"{short(printable)}"'


def method_name(method: str) -> str:
    """Return the name of a method for people; ``auto``, the best of several, is ``best found``."""
    return "best found" if method == "auto" else method


def rival_name(method: str) -> str:
    """Return the name of a method among others, with what it does: ``tpower (power steps)``."""
    return f"{method} ({RIVALS[method]})" if method in RIVALS else method


def unique(sizes: Sequence[int], own: int, rest: float, value: float, named: str = "") -> str:
    """Return what is proved of all answers but the best one; empty where nothing is.

    The best one has `own` features and the given value. `rest` bounds all answers that lack one of these
    features. `named` is text after their number, such as their names.
    """
    share = ratio_at_most(rest, value) if value > 0 else 1.0
    if share >= 1:
        return ""
    if own == sum(sizes):
        lost = 1 - Decimal(repr(share))  # exact, as the difference of two floats need not be
        less = f"explains at least {percent_down(lost, max(0, -lost.adjusted()))} less, proved."
        if len(sizes) > 1:
            return f"Unique: every other choice of features for the {len(sizes)} components {less}"
        return f"Unique: every other set of at most {sizes[0]} features {less}"
    every = f"every set of at most {sizes[0]} features"
    if len(sizes) > 1:
        every = f"every choice of features for the {len(sizes)} components"
    above, same = format_bound_share(rest, value, 6), things(own, "feature")
    return (
        f"Proved: {every} that explains more than {above} of the best value contains the same {same}{named}."
    )


def _features(forced: tuple[int, ...], names: Sequence[str] | None) -> str:
    which = listed([f"{j + 1}" if names is None else f'"{short(names[j])}"' for j in forced])
    return which if names is not None else f"feature{'s' * (len(forced) > 1)} {which}"
