"""Texts of the spannogram page: formulas and three sentences for each view, and other sentences."""

from dataclasses import dataclass
from decimal import Decimal

import streamlit as st

from nspca.dashboard.app import wording
from nspca.presentation.numerals import RAISED
from nspca.problem import Problem


@dataclass(frozen=True)
class Lesson:
    """The explanation of a view: formulas (LaTeX, one per line) and three sentences in Markdown."""

    formulas: tuple[str, ...]
    lines: tuple[str, str, str]


def teach(lesson: Lesson) -> None:
    """Draw the formulas and sentences of a lesson, folded."""
    with st.expander("The formula"):
        for formula in lesson.formulas:
            st.latex(formula)
        st.markdown("\n".join(f"{number}. {line}" for number, line in enumerate(lesson.lines, 1)))


CURVES = Lesson(
    (
        r"v_i(\varphi)=V_{i1}\sin\varphi+V_{i2}\cos\varphi",
        r"\max_x\,\lVert V^{\!\top}x\rVert^2=\max_\varphi\ \sum_{k\ \text{highest}} v_i(\varphi)^2",
    ),
    (
        "V has the two main directions as columns, each times the square root of its variance.",
        "For one angle the best weights are the heights of the **k highest curves**. With weights of any "
        "sign, the k curves farthest from zero count.",
        "The directions c and −c have the same angle. The curves are drawn for the one on which the star "
        "lies. A tick in **opposite directions** adds the other: its highest curves are the lowest here.",
    ),
)

MAGNITUDES = ((12, "trillion"), (9, "billion"), (6, "million"))


def count_in_words(count: int) -> str:
    """Return a count as text: "47", "12,582", "151 billion" or "4.1 × 10¹⁸"."""
    if count >= 10**15:
        leading, tens = f"{Decimal(count):.1e}".split("e+")
        return f"{leading} × 10{tens.translate(RAISED)}"
    for power, name in MAGNITUDES:
        if count >= 10**power:
            return f"{count // 10**power} {name}"
    return f"{count:,}"


def instead_of_all(candidates: int, sets: int) -> str:
    """Return how many sets would otherwise be checked, as the end of a phrase; empty if no set is spared."""
    return f" instead of {count_in_words(sets)}" if candidates < sets else ""


def steps(problem: Problem, noun: str, candidates: int, sets: int, drawn: int) -> list[str]:
    """Return the sentences beside the picture of rank 2.

    Parameters
    ----------
    problem : the problem that is drawn
    noun : noun for a feature
    candidates, sets : number of candidate supports, and of all supports of k features
    drawn : number of candidate supports in the strip, which has those of one direction and not its opposite
    """
    curves = "highest curves" if problem.nonneg else "curves farthest from zero"
    strip = f": {drawn} in the strip, the others in the opposite directions" if drawn < candidates else ""
    said = [
        f"A main direction is a weighting of all {noun}s along which the data vary most. The angle φ mixes "
        "the first two: 90° is the first principal component alone, 0° the second.",
        f"The {problem.size} {curves} are the best set for a mix. They change only where curves cross. "
        f"So the sets to check are {count_in_words(candidates)}{instead_of_all(candidates, sets)}{strip}.",
    ]
    directions = min(problem.n, problem.covariance.shape[0])  # no more than rows, nor than features
    if directions > 2:
        more = wording.things(directions - 2, "more direction")
        most = "at most " * (directions < problem.n)
        said.append(
            f"The data have {most}{more}. They add to what a set captures, and in them other sets may do "
            "better. The share at the top holds for all of them."
        )
    return said


SPHERE_SENTENCE = (
    "With three main directions the angle becomes a point on a globe. The search splits the globe into "
    "cones, and settles each that cannot hold a better set. Drag the slider to follow it."
)
SPHERE = Lesson(
    (
        r"f(c)=\sum_{k\ \text{largest}}\bigl(v_i^{\top}c\bigr)_+^2",
        r"\max_{c\,\in\,\text{cone}(g_1,g_2,g_3)} f(c)\ \le\ \max_{j,l}\ "
        r"\frac{\operatorname{top}_k(p_{ij}\,p_{il})}{g_j^{\top}g_l}",
        r"p_{ij}=\bigl(v_i^{\top}g_j\bigr)_+",
    ),
    (
        "With three dimensions the angle becomes a **direction c on a sphere**. Bright is where the k best "
        "features reach most.",
        "No direction inside a cone can exceed what its **three corners** say. The cone with the largest "
        "bound is split, again and again.",
        "A cone whose bound is not above the best found is settled. When none is open, **the cones are the "
        "proof**, because they leave no gap.",
    ),
)
