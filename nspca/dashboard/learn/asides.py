"""How it was done before: one step of the methods of 2006 and of 2008, on the same problem."""

import streamlit as st

from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.learn.lesson import K, Lesson, descent, quartic
from nspca.plots.lesson import descent_figure, quartic_figure


def show(of: Lesson) -> None:
    """Two boxes that stay closed until somebody asks."""
    with st.expander("2006: one weight at a time", icon=":material/history_edu:"):
        found = quartic(of)
        name = wording.plain(of.of.dataset.feature_names[found.pixel])
        st.markdown(
            "With all other weights as they are, the objective is a curve of degree four in the weight of "
            f"one pixel (here {name}), and its highest point a root of a cubic: {found.best[0]:.2f} as it "
            f"is, and {found.best[1]:.2f} at the price for each unit of weight that leaves {K} pixels. That "
            "is how weights become zero (Zass and Shashua 2006)."
        )
        figures.draw(
            quartic_figure(found.curves, found.best, ("as it is", "with its price")), "learn_quartic"
        )
    with st.expander("2008: down to the level that leaves k", icon=":material/history_edu:"):
        sizes, steps = descent(of)
        st.markdown(
            "The covariance is applied to the weights, and as much is taken away from every entry as the "
            f"{K + 1}th largest has: just {K} remain. Again and again, until nothing changes: here after "
            f"{steps} steps (Sigg and Buhmann 2008)."
        )
        figures.draw(descent_figure(sizes, K), "learn_descent")
