"""Explain the matching step by a made-up example, solved by matching and one component at a time.

The section "All methods" calls `show` for topics.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.components import figures
from nspca.local_search.matching import assign, total
from nspca.plots.matching import matching_figure

EXAMPLES = 30
"""Number of examples to choose from, each from its own random numbers."""
COMPONENTS, SIZE = ("topic 1", "topic 2", "topic 3"), 2
FEATURES = ("ball", "goal", "team", "vote", "party", "film", "star", "prize")
OWN = (0, 0, 0, 1, 1, 2, 2, 2)
"""The topic of each word in `FEATURES`."""
LESSON = """For fixed directions c, component j would gain $W_{ij}^2$ from feature i (W = Vc). Every component
has as many slots as it may
use features, every feature fits into one slot, and the best choice for **all** components at once is a
matching of largest total weight.
Taking turns instead, the first component takes the best features, also those that others need more."""


def example(number: int) -> np.ndarray:
    """Return made-up weights W_ij^2 (8, 3) of words and topics.

    Topics have words of their own. The first topic also has large weights for words of the others, as leading
    directions do.
    """
    rng = np.random.default_rng(number)
    W = 0.2 + 0.4 * rng.random((len(FEATURES), len(COMPONENTS)))
    W[np.arange(len(FEATURES)), OWN] += 0.35
    W[:, 0] = 0.25 + 0.7 * W[:, 1:].max(axis=1) + 0.05 * rng.random(len(FEATURES))
    return np.square(W)


def in_turn(weights: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return the component of each feature (-1: none) when components take their best free ones in turn."""
    labels = np.full(len(weights), -1)
    for j, size in enumerate(sizes):
        free = np.flatnonzero(labels < 0)
        labels[free[np.argsort(-weights[free, j], kind="stable")[:size]]] = j
    return labels


def show() -> None:
    """Draw the folded explanation."""
    with st.expander("How words are matched to topics", icon=":material/hub:"):
        st.markdown(LESSON)
        number = st.slider(
            "Example", 1, EXAMPLES, **state.bind("example", min(max(1, state.get("example")), EXAMPLES))
        )
        weights, sizes = example(number), (SIZE,) * len(COMPONENTS)
        ways = {"All at once: the matching": assign(weights, sizes), "In turn": in_turn(weights, sizes)}
        for column, (name, labels) in zip(st.columns(2, gap="medium"), ways.items(), strict=True):
            with column:
                st.markdown(f"**{name}**, total weight {total(weights, labels):.2f}")
                figures.draw(
                    matching_figure(weights, labels, FEATURES, COMPONENTS, sizes), f"matching_{name[:3]}"
                )
        st.caption(
            "A made example: words and weights are invented. The matching on the left is the function that "
            "the solvers use."
        )
