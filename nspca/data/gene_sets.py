"""Gene sets as GMT and ranked lists as RNK: the text formats that enrichment tools read."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

UP, DOWN = "_UP", "_DN"
"""Endings of the two sets of a component with weights of both signs, as in MSigDB."""


def to_gmt(sets: Mapping[str, Sequence[str]], about: str = "") -> bytes:
    """Return sets of names as GMT: a line for each, with tabs between name, description and members.

    Parameters
    ----------
    sets : mapping of the name of a set to its members; an empty set is left out
    about : str
        The description of every set.
    """
    lines = [
        "\t".join([_cell(name), _cell(about) or "na", *map(_cell, members)])
        for name, members in sets.items()
        if members
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def signed_sets(name: str, names: Sequence[str], weights: ArrayLike) -> dict[str, list[str]]:
    """Return the features of a component as sets, the largest weight first.

    Weights of one sign make one set. Weights of both signs make two, whose names end with `UP` and `DOWN`.

    Parameters
    ----------
    name : of the component
    names : n names of features
    weights : (n,) float64
    """
    x = np.asarray(weights, float)
    order = [int(i) for i in np.argsort(-np.abs(x), kind="stable") if x[i]]
    up, down = ([str(names[i]) for i in order if x[i] * sign > 0] for sign in (1, -1))
    if up and down:
        return {f"{name}{UP}": up, f"{name}{DOWN}": down}
    return {name: up or down} if up or down else {}


def to_rnk(names: Sequence[str], values: ArrayLike) -> bytes:
    """Return features with a number each as RNK, the largest number first; what is no number is left out."""
    v = np.asarray(values, float)
    order: Iterable[int] = (int(i) for i in np.argsort(-v, kind="stable") if np.isfinite(v[i]))
    return "".join(f"{_cell(names[i])}\t{v[i]:.8g}\n" for i in order).encode()


def _cell(text: object) -> str:
    """Return a text in one line without tabs."""
    return " ".join(str(text).split())
