"""The live figure without a browser: what it sends, where its plotly.js comes from, and what a click gives
back.
"""

import base64
import functools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import plotly
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from nspca.dashboard.app import plotly as served
from nspca.dashboard.components import figures
from nspca.dashboard.components.spannogram_explorer import explorer_data
from nspca.plots.samples import spectrum_figure
from nspca.plots.spannogram import spans
from nspca.plots.sweeps import sweep_figure
from nspca.plots.theme import alt_text
from nspca.specs.rows import Found, pack


def page():
    import numpy as np

    from nspca.dashboard.components import figures
    from nspca.dashboard.components.spannogram_explorer import explorer_data, spannogram_explorer
    from nspca.plots.samples import spectrum_figure
    from nspca.plots.spannogram import spans

    figures.draw(spectrum_figure([3.0, 1.0], 4.0).update_layout(height=300), "figure")
    spannogram_explorer(explorer_data(np.eye(2), 1, spans(np.eye(2), 1), (0.0, 1)), "explorer")


def sent(element) -> dict:
    return json.loads(element.proto.json)


def test_a_page_sends_the_figure_with_a_fixed_revision():
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    figure, explorer = at.get("bidi_component")
    data = sent(figure)
    layout = json.loads(data["figure"])["layout"]
    assert layout["uirevision"].startswith("figure ") and data["clickable"] is False
    assert layout["height"] == data["height"] == 300
    assert data["alt"] == alt_text(spectrum_figure([3.0, 1.0], 4.0))
    assert data["plotly"] == served.url()
    assert sent(explorer)["k"] == 1


def arrived(figure, **options) -> dict:
    """Return a figure as the browser gets it."""

    def page(figure, options):
        from nspca.dashboard.components import figures

        figures.draw(figure, "key", **options)

    at = AppTest.from_function(page, args=(figure, options), default_timeout=60).run()
    assert not at.exception
    return json.loads(sent(at.get("bidi_component")[0])["figure"])


def revision(figure, **options) -> str:
    """Return the revision of a figure, whose zoom and hidden traces the browser keeps until it changes."""
    return arrived(figure, **options)["layout"]["uirevision"]


def test_a_figure_about_other_things_starts_afresh():
    spectrum = spectrum_figure([3.0, 1.0], 4.0)
    kept = revision(spectrum)
    assert revision(spectrum.update_xaxes(title_text="x")) == kept
    assert revision(spectrum_figure([2.0, 1.0], 4.0)) != kept
    assert revision(spectrum, same="a") != revision(spectrum, same="b")


def test_traces_are_told_apart_by_their_names_and_an_axis_keeps_reasons_of_its_own():
    names = ("auto", None, "auto", None, '<x> "1" .a')
    figure = go.Figure([go.Scatter(y=[1], name=name) for name in names], {"meta": {"alt": "lines"}})
    shown = arrived(figure.update_yaxes(uirevision="fit"), same="these")
    uids = [trace["uid"] for trace in shown["data"]]
    assert len(set(uids)) == len(names), "the second of a name is another"
    assert all(re.fullmatch("t[0-9a-f]+", uid) for uid in uids), "Plotly looks for them by styles"
    fewer = arrived(go.Figure(figure.data[1:], figure.layout), same="these")
    assert fewer["data"][0]["uid"] == uids[1], "others may go before them"
    assert shown["layout"]["yaxis"]["uirevision"] == "key these fit"
    assert not any(trace.uid for trace in figure.data)


def test_plotly_lies_under_the_base_path(monkeypatch):
    assert served.file().parent == Path(plotly.__file__).parent / "package_data" and served.file().is_file()
    assert served.url().startswith("/vendor/plotly.min.js?v=")
    monkeypatch.setattr(
        served.st, "get_option", lambda name: "/class/room/" if name == "server.baseUrlPath" else None
    )
    assert served.url().startswith("/class/room/vendor/")


def test_the_caller_keeps_its_figure():
    figure = spectrum_figure([1.0], 1.0)
    before = figure.to_json()
    figures.draw(figure, "k")
    assert figure.to_json() == before


def test_a_figure_may_be_named_after_any_run():
    def page():
        from nspca.dashboard.components import figures
        from nspca.plots.samples import spectrum_figure

        for name in ("a__b", "___", "component__VExov4jmqlBac7L5JY60Q_", "a_b"):
            figures.draw(spectrum_figure([1.0], 1.0), name)

    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception and len(at.get("bidi_component")) == 4


@pytest.mark.parametrize("nonneg", [True, False])
def test_explorer_gets_the_rows_exactly_and_the_optimum_of_its_angle(nonneg):
    V = np.random.default_rng(0).normal(size=(40, 2))
    found = spans(V, 5, nonneg)
    sign, at = found.best
    optimum = float(found.phi[at]), 1 - 2 * sign
    data = explorer_data(V, 5, found, optimum, nonneg=nonneg)
    V = V if optimum[1] > 0 or not nonneg else -V  # so that the star stands on the curves of c
    assert np.array_equal(np.frombuffer(base64.b64decode(data["rows"]), "<f8").reshape(40, 2), V)
    assert data["optimum"]["value"] == pytest.approx(max(data["objective"]), rel=1e-5)
    assert data["phi"] == data["optimum"]["phi"]
    assert json.dumps(data)


def test_explorer_of_a_gene_table_is_small():
    V = np.random.default_rng(0).standard_t(3, size=(12582, 2))
    data = explorer_data(V, 50, spans(V, 50), (0.2, -1), phi=0.1)
    assert len(json.dumps(data)) < 1e6
    assert data["phi"] == 0.1
    assert np.frombuffer(base64.b64decode(data["rows"]), "<f8")[0] == -V[0, 0]


ROWS = tuple(pack(Found("auto", k, float(k), float(k + 1)))["row"] for k in (2, 3, 4))


def filling_in():
    import streamlit as st

    import nspca
    from nspca.dashboard.views import curve
    from nspca.specs import DataSpec, SweepSpec
    from tests.dashboard.test_live import ROWS

    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, k=2)
    data = DataSpec(sample="pitprops", content="of a class")
    asked = SweepSpec(data=data, ks=(2, 3, 4, 5))
    rows = ROWS[:2] if "fewer" in st.session_state else ROWS
    curve.filling(problem, rows, asked)


def test_a_curve_that_fills_in_is_drawn_once_for_everybody(monkeypatch):
    """A curve that fills in is drawn once for each new row, however many visitors look at it."""
    made, prepare = [], figures.prepared
    monkeypatch.setattr(figures, "prepared", lambda *given: made.append(1) or prepare(*given))
    first, second = AppTest.from_function(filling_in), AppTest.from_function(filling_in)
    for page in (first, second, first, second):
        assert not page.run(timeout=60).exception
    assert len(made) == 1
    second.session_state["kept"] = {"axis": "total"}
    second.run()
    assert len(made) == 2, "on another axis it is another figure"
    first.session_state["fewer"] = True
    first.run()
    assert len(made) == 3, "and with other rows"
    assert not first.exception and not second.exception


def plots_of_a_class():
    import functools

    import streamlit as st

    from nspca.dashboard.components import figures
    from nspca.plots.samples import spectrum_figure

    plot = functools.partial(spectrum_figure, [3.0, st.session_state.get("second", 1.0)], 4.0)
    figures.draw_plot(plot, "figure", st.session_state.get("height"), same="these data")


def test_a_plot_with_equal_arguments_is_made_once_for_everybody(monkeypatch):
    made, prepare = [], figures.prepared
    monkeypatch.setattr(figures, "prepared", lambda *given: made.append(1) or prepare(*given))
    first, second = AppTest.from_function(plots_of_a_class), AppTest.from_function(plots_of_a_class)
    for page in (first, second, first, second):
        assert not page.run(timeout=60).exception
    assert len(made) == 1
    shown = sent(first.get("bidi_component")[0])
    alone = prepare(spectrum_figure([3.0, 1.0], 4.0), "figure", "these data")
    assert {name: shown[name] for name in alone} == alone
    first.session_state["second"] = 0.5
    changed = sent(first.run().get("bidi_component")[0])
    assert len(made) == 2 and changed["figure"] != shown["figure"], "another number is another figure"
    first.session_state["height"] = 300
    changed = sent(first.run().get("bidi_component")[0])
    assert len(made) == 3 and changed["height"] == 300 and not first.exception


@pytest.mark.parametrize(
    ("key", "height", "same"), [("there", None, "run 1"), ("here", 333, "run 1"), ("here", None, "run 2")]
)
def test_a_shared_figure_is_of_the_page_that_asks(monkeypatch, key, height, same):
    shown = []
    monkeypatch.setattr(figures, "put", lambda made, key, on_click: shown.append(made))
    plot = functools.partial(spectrum_figure, [3.0, 1.0], 4.0)
    alone = plot() if height is None else plot().update_layout(height=height)
    figures.draw_plot(plot, "here", None, same="run 1")
    figures.draw_plot(plot, key, height, same=same)
    assert shown[1] == figures.prepared(alone, key, same) != shown[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"unit": 4.0},
        {"unit_name": "the total variance"},
        {"signed": True},
        {"selected_k": 2},
        {"bounds": "paper"},
        {"before": ("another run", [1, 2], [0.5, 0.6])},
    ],
)
def test_every_switch_of_the_curve_tells_shared_figures_apart(changed):
    usual = {"unit": 2.0, "unit_name": "the first principal component", "signed": False}
    frame = pd.DataFrame({"method": "auto", "k": [1, 2, 3], "value": [1.0, 1.5, 1.75], "upper": 2.0})
    first, again, other = (
        figures.hash_plot(functools.partial(sweep_figure, frame.copy(), all_ks=(1, 2, 3), **given))
        for given in (usual, dict(usual), usual | changed)
    )
    assert first == again != other
