"""The sentence that no other set of features explains as much, for results and lists of good answers."""

import math
from collections.abc import Sequence

from nspca.presentation import phrases
from nspca.presentation.numerals import format_bound_share, percent_down, ratio_at_most


def unique(sizes: Sequence[int], own: int, rest: float, value: float, named: str = "") -> str:
    """Return what is proved of all answers but the best one; empty where nothing is.

    Parameters
    ----------
    sizes : k of each component
    own : number of features of the best answer
    rest : bound on all answers that lack one of these features
    value : the best value
    named : text after the number of features, such as their names
    """
    share = ratio_at_most(rest, value) if value > 0 else 1.0
    if share >= 1:
        return ""
    if own == sum(sizes):
        less = f"explains at least {percent_of(1 - share)} less, proved."
        if len(sizes) > 1:
            return f"Unique: every other choice of features for the {len(sizes)} components {less}"
        return f"Unique: every other set of at most {sizes[0]} features {less}"
    every = f"every set of at most {sizes[0]} features"
    if len(sizes) > 1:
        every = f"every choice of features for the {len(sizes)} components"
    above, same = format_bound_share(rest, value, 6), phrases.things(own, "feature")
    return (
        f"Proved: {every} that explains more than {above} of the best value contains the same {same}{named}."
    )


def percent_of(share: float) -> str:
    """Return a share in per cent, rounded down to three significant digits."""
    places = 2 if share <= 0 else max(0, 2 - math.floor(math.log10(share * 100)))
    return percent_down(share, places)
