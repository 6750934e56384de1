"""Name the colours of all figures by what they stand for.

Figures use the names with a meaning. A sentence or legend that names a hue, such as "the green band", is held
against the drawn figure by `tests/plots/test_colours.py`.
"""

# The hues of Okabe and Ito, told apart by people with any colour vision, shifted a little to stand out on
# white and on near black.
_BLUE, _ORANGE, _GREEN, _VERMILION = "#2a85c7", "#e08e00", "#0f9d74", "#d9622b"
_PURPLE, _SKY, _OLIVE, _GREY = "#b86fa0", "#5ab4e5", "#9a8c2c", "#8a8f98"

PROVED = _GREEN
"""The region in which the optimum is proved to lie, the gaps that are left, and proved ratios."""
BOUND = _GREY
"""A proved upper bound, and what a theorem promises."""
PAPER = _PURPLE
"""The bound of the 2014 paper, which holds with a probability, and its region."""
FOUND = _BLUE
"""The best value that was found."""
CHOSEN = _ORANGE
"""Choices of a visitor: a k, a wanted level, a painted pixel."""
POSITIVE, NEGATIVE = _BLUE, _VERMILION
"""The signs of weights."""
MAIN, SECOND = _BLUE, _ORANGE
"""The curve that a figure is about, and the one beside it."""
EXCHANGEABLE, UNDECIDED = _ORANGE, _BLUE
"""Features that are proved to be exchangeable, and undecided features."""
TOGETHER = _ORANGE
"""A sum over the first parts of something."""
RECOMMENDED = _PURPLE
"""Numbers of features recommended by held-out rows."""
BEST, LIMIT = _VERMILION, _VERMILION
"""The best point of a picture, and the line beyond which it may not lie."""
CONTEXT = _GREY
"""Context behind a figure: a preview, all rows, a mean, a helping line."""
EARLIER = _GREY
"""The sweep before a change."""
HUES = (
    *(_BLUE, _ORANGE, _PURPLE, _VERMILION, _OLIVE, "#6f6ad6", _SKY),
    *("#8d6748", "#c2417f", "#5f8f9b", "#d48a9f", "#c4a84f"),
)
"""Twelve colours of items without a colour meaning of their own: methods, groups, parts. None is green, which
stands for a proof. Light blue, which a pale blue looks like, comes after those that most figures need."""
COLOURS = HUES[:7]
"""The hues that are easiest to tell apart."""

OPEN_CONE, PROVED_CONE, DISCARDED_CONE = "#ff7f2a", "#3ddbb0", "#c3c8d1"
"""Edges of cones over a field from blue to yellow: light or orange, which neither end of the scale hides."""
OPEN_FILL, DISCARDED_FILL = _ORANGE, "#14141e"
CURVES = "#868d99"
"""The curves of a spannogram, one for each feature."""
STAR = "#c0265a"
"""The highest point of a spannogram."""
STRETCHES = ("#c6cad1", "#8b919c")
"""Neighbouring stretches of the angle, each with its own support; greys, since they stand for no method."""

FAINT = "rgba(128,128,128,0.13)"
GRID = "rgba(128,128,128,0.22)"
SEQUENTIAL = [[0, "#ffe9a8"], [0.35, "#fdb255"], [0.7, "#e2572b"], [1, "#8f0d2c"]]
DIVERGING = [[0, "#0b4f8a"], [0.25, "#5aa5d8"], [0.5, "#efefef"], [0.75, "#f0955a"], [1, "#9c3306"]]
FIELD = "Cividis"


def fade(colour: str, opacity: float) -> str:
    """Return a ``#rrggbb`` colour with an opacity, as CSS."""
    return f"rgba({channels(colour)},{opacity})"


def channels(colour: str) -> str:
    """Return the red, green and blue of a ``#rrggbb`` colour as CSS: ``42,133,199``."""
    return ",".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
