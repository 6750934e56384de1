"""How many features are enough for a wanted share of the variance, and what is proved about fewer."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from nspca.dashboard.app import state, wording

LEAST, MOST = 1, 99  # per cent that can be wanted


@dataclass(frozen=True)
class Enough:
    """What a sweep knows about a wanted value.

    Parameters
    ----------
    reached : the smallest k of the sweep with a component that has it, if there is one
    ruled_out : the largest k of the sweep that is proved not to have it, 0 when none is; fewer features
    cannot have it either
    last, best : the largest k of the sweep, and its largest value
    """

    reached: int | None
    ruled_out: int
    last: int
    best: float


def known(table: pd.DataFrame, value: float) -> Enough:
    """What the rows of a sweep say about a value, in the units of the data."""
    rows = table.groupby("k").agg(value=("value", "max"), upper=("upper", "min"))
    reached, out = rows.index[rows["value"] >= value], rows.index[rows["upper"] < value]
    return Enough(
        int(reached.min()) if len(reached) else None,
        int(out.max()) if len(out) else 0,
        int(rows.index.max()),
        rows["value"].max(),
    )


def wanted() -> int:
    """Per cent of the best direction's variance."""
    return min(MOST, max(LEAST, state.get("enough")))


def ask() -> None:
    """The share that is wanted."""
    label = "I want this % of the variance of the first principal component"
    with st.container(width=470):
        st.number_input(label, LEAST, MOST, step=1, **state.bind("enough", wanted()))


def sentence(known: Enough, share: int, n: int, noun: str, best: float, nonneg: bool, kept: int = 0) -> str:
    """The smallest k with its proof, or what is open.

    Parameters
    ----------
    share : per cent that is wanted
    n, noun : how many features there are, and what one is called
    best : the variance of the best direction, whose weights may have any sign
    nonneg : whether those of the components may not
    kept : how many features must be in, and are counted
    """
    out, goal = known.ruled_out, f"{share} %"
    signs = " with nonnegative weights" if nonneg else ""
    signs += f", the {kept} kept among them," if kept else ""
    few = f"single {noun}" if out == 1 else wording.things(out, noun)
    nobody = f"proved that no {few}{signs} can reach {goal}" if out else ""
    if known.reached is None:
        if out == known.last == n:
            return f"**No number of {noun}s is enough**: proved that no component{signs} can reach {goal}."
        most = f"the most here is {wording.down(known.best / best)}"
        if out == known.last:
            return f"**k = {known.last} is not enough**: {nobody}; {most}. Take larger k."
        open_ = f"whether more than {out} can is open" if out else "whether any number can is open"
        return f"**Nothing here reaches {goal}**: {most}; {nobody + ', ' if nobody else ''}{open_}."
    if known.reached == kept:
        return f"**k = {kept} is enough**: what is kept reaches {goal} alone."
    if known.reached == 1:
        return f"**k = 1 is enough**: a single {noun} reaches {goal}."
    if out == known.reached - 1:
        return f"**k = {known.reached} is enough**: {nobody}."
    first = max(out + 1, kept)
    fewer = f"{first}" if first == known.reached - 1 else f"{first} to {known.reached - 1}"
    return f"**k = {known.reached} is enough**{': ' + nobody if nobody else ''}; whether {fewer} can is open."


def between(known: Enough) -> tuple[int, int]:
    """The numbers of features between which the answer lies."""
    return known.ruled_out, known.last if known.reached is None else known.reached
