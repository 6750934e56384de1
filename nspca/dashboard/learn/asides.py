"""Two folded boxes of the lesson's second screen: one step of the 2006 and of the 2008 method."""

import streamlit as st

from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.learn.lesson import K, Lesson, descent, quartic
from nspca.plots.lesson import descent_figure, quartic_figure


def show(of: Lesson) -> None:
    """Draw the two folded boxes."""
    with st.expander("2006: one weight at a time", icon=":material/history_edu:"):
        found = quartic(of)
        name = wording.plain(of.of.dataset.feature_names[found.pixel])
        st.markdown(
            "All weights but one are held. The variance is then a curve in the weight of one pixel, here "
            f"{name}. Its highest point is at {found.best[0]:.2f}. With a price on weight it moves to "
            f"{found.best[1]:.2f}, so the pixel drops out. The price is raised until {K} pixels are left "
            "(Zass and Shashua 2006)."
        )
        figures.draw(
            quartic_figure(found.curves, found.best, ("as it is", "with its price")), "learn_quartic"
        )
    with st.expander("2008: small weights are cut off, again and again", icon=":material/history_edu:"):
        sizes, steps = descent(of)
        st.markdown(
            f"The covariance is applied to the weights. Then the {K + 1}th largest entry is taken away from "
            f"each, which leaves {K} above zero. This is repeated until nothing changes, here after {steps} "
            "steps (Sigg and Buhmann 2008)."
        )
        figures.draw(descent_figure(sizes, K), "learn_descent")
