"""What the spannogram page says beside its pictures: a formula and three lines for each view. No Streamlit
calls.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """Formulas (one LaTeX line each) and three sentences or so in Markdown."""

    formulas: tuple[str, ...]
    lines: tuple[str, str, str]


CURVES = Lesson(
    (
        r"v_i(\varphi)=V_{i1}\sin\varphi+V_{i2}\cos\varphi",
        r"\max_x\,\lVert V^{\!\top}x\rVert^2=\max_\varphi\ \sum_{k\ \text{highest}} v_i(\varphi)^2",
    ),
    (
        "Every grey curve is one feature. For one angle φ the best component takes the **k highest "
        "curves**: drag, and see them lit.",
        "The set changes only where two curves cross or one meets zero, so **few supports are candidates**: "
        "each stretch of colour is one.",
        "Below is what each set reaches. The star is the highest point of all angles: **the exact "
        "optimum**, without a look at the others.",
    ),
)
SPHERE = Lesson(
    (
        r"f(c)=\sum_{k\ \text{largest}}\bigl(v_i^{\top}c\bigr)_+^2",
        r"\max_{c\,\in\,\text{cone}(g_1,g_2,g_3)} f(c)\ \le\ \max_{j,l}\ "
        r"\frac{\operatorname{top}_k(p_{ij}\,p_{il})}{g_j^{\top}g_l}",
        r"p_{ij}=\bigl(v_i^{\top}g_j\bigr)_+",
    ),
    (
        "With three dimensions the angle becomes a **direction c on a sphere**; bright is where the k best "
        "features reach most.",
        "No direction inside a cone can exceed what its **three corners** say. The cone with the largest "
        "bound is split, again and again.",
        "A cone whose bound is not above the best found is settled. When none is open, **the cones are the "
        "proof**: they leave no gap.",
    ),
)
SUPPORT = Lesson(
    (r"(P_2)\quad \max_{\lVert c\rVert=1}\ \lVert Rc\rVert^2\ \ \text{with}\ \ Rc\ge 0,\quad R=V_{I}",),
    (
        "On one support the best weights of any sign are the **leading eigenvector**; but here weights may "
        "not be negative.",
        "Only the **blue arc** gives weights of one sign. With the eigenvector (orange) outside, the "
        "answer (star) is an end of the arc, where one weight is just zero: the **active constraint**.",
        "At the optimum's own support the eigenvector is always inside, once features of weight zero are "
        "dropped. Which support that is, nobody knows before all are compared.",
    ),
)
RANKS = Lesson(
    (
        r"\rho_d=\max\Bigl\{\tfrac{k}{2n},\ \tfrac{1}{1+2\,\frac nk\,\lambda_{d+1}/\lambda_1}\Bigr\}",
        r"\mathrm{OPT}\ \le\ \lambda_{d+1}+\mathrm{OPT}(UU^{\top})",
        r"UU^{\top}=\sum_{j\le d}(\lambda_j-\lambda_{d+1})\,u_ju_j^{\top}",
    ),
    (
        "With a covariance of **rank d** the problem can be solved. What that loses is known **before** "
        "anything runs (Theorem 1, dotted).",
        "Afterwards more is known: the rank-d optimum plus the next eigenvalue **bounds the true optimum** "
        "(green), usually far better.",
        "The price: up to **2ᵈ·C(n+1, d)** supports to enumerate. The cone search needs none of them; the "
        "table shows both.",
    ),
)
