"""Draw the cost of a rank: candidate supports of an enumeration beside the cones of a search.

The spannogram page draws `cost_figure` in its view of all ranks.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

import plotly.graph_objects as go

from nspca.plots.theme import add_curve, new_figure
from nspca.presentation.colours import BOUND, FOUND
from nspca.presentation.numerals import RAISED


def short(count: int) -> str:
    """Return a count in a short form: ``734``, ``12,582``, ``4.1 × 10¹⁵``."""
    if count < 1_000_000:
        return f"{count:,}"
    leading, power = f"{Decimal(count):.1e}".split("e+")
    return f"{leading} × 10{power.translate(RAISED)}"


def cost_figure(d: Iterable[int], supports: Sequence[int], cones: Sequence[int]) -> go.Figure:
    """Draw candidate supports against the rank on a logarithmic axis, with the number of cones that the
    search made.

    Parameters
    ----------
    d : (t,) ranks
    supports : (t,) ``2^d C(n+1, d)``, whole numbers of any size
    cones : (t,) cones made by the search
    """
    d = list(map(int, d))
    alt = (
        f"At rank {d[-1]} an enumeration has up to {short(supports[-1])} candidate supports; the search "
        f"made {short(cones[-1])} cones."
    )
    figure = new_figure(alt, height=320)
    for name, counts, colour, dash in (
        ("sets to check, at most", supports, BOUND, "dot"),
        ("cones made", cones, FOUND, "solid"),
    ):
        add_curve(
            figure,
            d,
            [float(count) for count in counts],
            name,
            f"Rank %{{x}}: %{{text}} {name}.",
            marker={},
            line={"color": colour, "width": 2.5, "dash": dash},
            text=[short(count) for count in counts],
        )
    figure.update_xaxes(title_text="rank d of the approximation", dtick=1)
    return figure.update_yaxes(title_text="count", type="log", exponentformat="power", nticks=6)
