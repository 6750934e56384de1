"""Plotly figures and small SVG drawings made from plain arrays and tables. Nothing in this package knows
Streamlit.
"""

from nspca.plots.components import component_bars, component_figure
from nspca.plots.fixing import fixing_figure
from nspca.plots.gaps import gap_figure
from nspca.plots.published import with_paper_bound, with_rank3_bound
from nspca.plots.samples import score_figure, sparsity_figure, spectrum_figure
from nspca.plots.scoremap import score_map, separation
from nspca.plots.spannogram import spans
from nspca.plots.sphere import flat_map_figure, globe, sphere_figure
from nspca.plots.sweeps import kind_words, sweep_figure
from nspca.plots.theme import alt_text, certainty, ratio_sentence

__all__ = [
    "alt_text",
    "certainty",
    "component_bars",
    "component_figure",
    "fixing_figure",
    "flat_map_figure",
    "gap_figure",
    "globe",
    "kind_words",
    "ratio_sentence",
    "score_figure",
    "score_map",
    "separation",
    "spans",
    "sparsity_figure",
    "spectrum_figure",
    "sphere_figure",
    "sweep_figure",
    "with_paper_bound",
    "with_rank3_bound",
]
