"""Find the number of features that suffices for a wanted share of the variance, with its proof.

The page Sweep draws the sentences. Its form places values of k where the answer is still open.
"""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.result import knee

LEAST, MOST = 1, 99  # range of the wanted share in per cent
READABLE = 20
"""Most features of the component that the page opens on, as many as a person can look at one by one."""
TENS = 10  # a share that nobody asked for is a multiple of so many per cent


@dataclass(frozen=True)
class Enough:
    """The numbers of features that reach a wanted variance, as far as a sweep tells.

    Parameters
    ----------
    reached : smallest k of the sweep that reaches the variance, None for none
    ruled_out : largest k of the sweep that is proved not to reach it, 0 for none; fewer features cannot
        reach it either
    last, best : largest k of the sweep, and its largest value
    """

    reached: int | None
    ruled_out: int
    last: int
    best: float


def known(table: pd.DataFrame, value: float) -> Enough:
    """Return the numbers of features that reach `value` (in the units of the data), from a sweep's rows."""
    rows = table.groupby("k").agg(value=("value", "max"), upper=("upper", "min"))
    reached, out = rows.index[rows["value"] >= value], rows.index[rows["upper"] < value]
    return Enough(
        int(reached.min()) if len(reached) else None,
        int(out.max()) if len(out) else 0,
        int(rows.index.max()),
        rows["value"].max(),
    )


def plateau(table: pd.DataFrame, n: int) -> int | None:
    """Return the k from which the curve hardly rises, or None for a curve that may rise further.

    A curve up to fewer than all n features may end anywhere. It must then show twice as many features as k.
    """
    k, last = knee(table), int(table["k"].max())
    return k if k < last and (last == n or 2 * k <= last) else None


def first_k(table: pd.DataFrame, n: int) -> int:
    """Return the k at which the page opens: the plateau, or as many features as a person can look at.

    The last k of the curve is never that, since its end says the least about what is enough.
    """
    k, ks = plateau(table, n), sorted({int(k) for k in table["k"]})
    if k is not None and k <= READABLE:
        return k
    return max((k for k in ks[:-1] if k <= READABLE), default=ks[0])


def wanted(table: pd.DataFrame, best: float) -> int:
    """Return the wanted share in per cent of the variance of the first principal component.

    A share that nobody asked for is one that the sweep reaches, in tens.

    Parameters
    ----------
    table : rows of the sweep
    best : variance of the first principal component
    """
    share = state.get("enough")
    if not state.is_kept("enough") and best > 0:
        share = min(share, TENS * int(100 * table["value"].max() / best / TENS))
    return min(MOST, max(LEAST, share))


def ask(share: int) -> None:
    """Draw the input of the wanted share, which is `share` now."""
    label = "I want this % of the variance of the first principal component"
    with st.container(width=470):
        st.number_input(label, LEAST, MOST, step=1, **state.bind("enough", share))


def sentence(known: Enough, share: int, n: int, noun: str, best: float, nonneg: bool, kept: int = 0) -> str:
    """Return sentences about the number of features that suffices, with the proof about fewer features.

    Parameters
    ----------
    known : Enough
    share : wanted share in per cent
    n, noun : number of features, and the noun for one
    best : variance of the first principal component (any sign)
    nonneg : whether the components of the sweep are nonnegative
    kept : number of forced features
    """
    out, goal = known.ruled_out, f"{share} %"
    signs = " with nonnegative weights" if nonneg else ""
    signs += f", the {kept} kept among them," if kept else ""
    few = f"single {noun}" if out == 1 else wording.things(out, noun)
    if known.reached is None:
        if out == known.last == n:
            nothing = f"**No number of {noun}s is enough** for {goal}"
            return f"{nothing}: no component{signs} can reach that, which is proved."
        proved = f" No {few}{signs} can reach {goal}, which is proved." if out else ""
        return _not_reached(
            known, goal, noun, f"The most found is {wording.down(known.best / best)}.{proved}"
        )
    line = f"**{_are(known.reached, noun)} enough** for {goal}"
    if known.reached == kept:
        return f"{line}: those that are kept reach it alone."
    if known.reached == 1:
        return f"{line}."
    proved = f" No {few}{signs} can reach that, which is proved." if out else ""
    if out == known.reached - 1:
        return f"{line}.{proved}"
    first = max(out + 1, kept)
    fewer = f"{first}" if first == known.reached - 1 else f"{first} to {known.reached - 1}"
    return f"{line}.{proved} Whether {fewer} can reach that is open."


def _not_reached(known: Enough, goal: str, noun: str, said: str) -> str:
    """Return sentences about a share that no component reaches; `said` is what was found and proved."""
    out = known.ruled_out
    if out == known.last:
        return f"**{_are(out, noun)} not enough** for {goal}. {said} Take a larger k."
    open_ = "more" if out else f"any number of {noun}s"
    return f"**Nothing here reaches {goal}.** {said} Whether {open_} can reach it is open."


def brief(known: Enough, share: int, n: int, noun: str, nonneg: bool) -> str:
    """Return in one short sentence whether the wanted share is reached; parameters as for `sentence`."""
    goal, signs = f"{share} %", " with nonnegative weights" if nonneg else ""
    if known.reached is not None:
        exactly = "" if known.ruled_out == known.reached - 1 else "at most "
        return f"{goal} takes {exactly}{wording.things(known.reached, noun)}."
    if known.ruled_out == known.last:
        which = f"any number of {noun}s" if known.last == n else f"up to {wording.things(known.last, noun)}"
        return f"{goal} is out of reach for {which}{signs}, which is proved."
    return f"No point of the curve reaches {goal}."


def _are(count: int, noun: str) -> str:
    """Return ``8 pixels are`` or ``1 pixel is``."""
    return f"{wording.things(count, noun)} {'is' if count == 1 else 'are'}"


def between(known: Enough) -> tuple[int, int]:
    """Return two numbers of features between which the sweep leaves the smallest sufficient number open.

    The second is the largest k of the sweep where none reaches the share.
    """
    return known.ruled_out, known.last if known.reached is None else known.reached
