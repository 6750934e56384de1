"""The figure that is updated in place, in a real browser on a page of its own."""

import contextlib
import json
import re

import pytest
from playwright.sync_api import TimeoutError as NotInTime

from tests.servers import BARE, Server

TICKING = """
from functools import partial

import pandas as pd
import streamlit as st
from nspca.dashboard.components import figures
from nspca.plots.sweeps import sweep_figure

@st.fragment(run_every=0.5)
def tick():
    ticks = st.session_state["ticks"] = st.session_state.get("ticks", 0) + 1
    ks = list(range(10, 100, 10))
    frame = pd.DataFrame({"method": "auto", "k": ks, "value": [k / 100 for k in ks], "kind": "B3"})
    frame["upper"] = [k / 90 + ticks / 1e4 for k in ks]
    frame["ratio"] = frame["value"] / frame["upper"]
    keep = lambda point: st.session_state.update(clicked=str(point))
    figures.draw_plot(partial(sweep_figure, frame, unit=1.0), "sweep", on_click=keep, same="these")
    st.write(f"tick {ticks}, clicked {st.session_state.get('clicked')}")

tick()
"""
CHANGING = """
import pandas as pd
import streamlit as st
from nspca.dashboard.components import figures
from nspca.plots.samples import spectrum_figure
from nspca.plots.sweeps import sweep_figure

runs = st.session_state["runs"] = st.session_state.get("runs", 0) + 1
ks = list(range(200, 400, 20)) if st.toggle("other data") else list(range(10, 100, 10))
rows = [
    {"method": method, "k": k, "value": k / 500, "upper": k / 400, "ratio": 0.8, "kind": "B3"}
    for method in (["cone"] if st.toggle("more methods") else []) + ["auto"]
    for k in ks
]
figures.draw(sweep_figure(pd.DataFrame(rows), unit=1.0), "curve", same=ks[0])
figures.draw(spectrum_figure([k / 10 for k in ks], 1e3), "spectrum")
st.write(f"run {runs}")
"""
SERVED = """
import streamlit as st
from nspca.dashboard.app import server

app = st.App("page.py", **server.options())
"""


@pytest.fixture(scope="module")
def serve(chromium, tmp_path_factory):
    """``serve(script)``: the address of a page with this body."""
    running = {}

    def start(script: str) -> str:
        if script not in running:
            home = tmp_path_factory.mktemp("live")
            (home / "page.py").write_text(script, encoding="utf-8")
            (home / "app.py").write_text(SERVED, encoding="utf-8")
            hosts = "--server.allowedHosts=127.0.0.1"
            running[script] = Server(home, home / "app.py", (*BARE, hosts)).start()
        return running[script].url

    yield start
    for server in running.values():
        server.stop()


def tick_of(page) -> int:
    return int(re.search(r"tick (\d+)", page.get_by_text("tick ").inner_text())[1])


def wait_for_ticks(page, count: int) -> None:
    goal = tick_of(page) + count
    page.wait_for_function(f"+(document.body.innerText.match(/tick (\\d+)/)?.[1]) >= {goal}")


@pytest.mark.visit
def test_a_figure_whose_height_changed_still_follows_the_width(serve, page):
    """On a phone a legend below adds to the height, and the width changes after that."""
    page.set_viewport_size({"width": 1024, "height": 844})
    page.goto(serve(CHANGING))
    page.wait_for_selector(".js-plotly-plot .main-svg")
    fits = """(({ clientWidth, clientHeight, _fullLayout: { width, height } }) =>
      width === clientWidth && height === clientHeight)(document.querySelector(".js-plotly-plot"))"""
    page.wait_for_function(fits)
    page.locator(".js-plotly-plot").first.evaluate("plot => { plot.style.height = '500px'; }")
    page.wait_for_function(f"document.querySelector('.js-plotly-plot').clientHeight === 500 && {fits}")
    for width in (390, 800):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(
            f"document.querySelector('.js-plotly-plot').clientWidth < {width} && {fits}", timeout=20_000
        )


@pytest.mark.visit
def test_zoom_survives_ticks_and_a_click_comes_back(serve, page):
    outside = []
    page.on(
        "request",
        lambda r: None if r.url.startswith(("http://127.0.0.1", "data:", "blob:")) else outside.append(r.url),
    )
    page.goto(serve(TICKING))
    page.wait_for_selector(".js-plotly-plot .main-svg")
    wait_for_ticks(page, 1)
    page.evaluate("window.plot = document.querySelector('.js-plotly-plot')")
    assert page.locator(".nspca-figure").get_attribute("aria-label").startswith("Variance explained")
    state = (
        "[plot.layout.xaxis.range, plot.layout.yaxis.range, plot === "
        "document.querySelector('.js-plotly-plot')]"
    )
    for _ in range(5):  # on a busy machine a redraw can fall between the button's down and the first move
        area = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
        page.mouse.move(area["x"] + 0.2 * area["width"], area["y"] + 0.2 * area["height"])
        page.mouse.down()
        page.mouse.move(area["x"] + 0.8 * area["width"], area["y"] + 0.9 * area["height"], steps=8)
        page.mouse.up()
        wait_for_ticks(page, 1)
        if page.evaluate(state)[0][0] > 20:
            break
    drawn = "plot.calcdata.map(points => points.map(point => point.y)).join()"
    zoomed, before = page.evaluate(state), page.evaluate(drawn)
    assert zoomed[0][0] > 20 and zoomed[0][1] < 85 and zoomed[2]
    wait_for_ticks(page, 3)
    assert page.evaluate(state) == zoomed
    assert page.evaluate(drawn) != before
    point = """() => {
      const axes = plot._fullLayout, box = plot.getBoundingClientRect();
      return [box.x + axes.xaxis._offset + axes.xaxis.l2p(50), box.y + axes.yaxis._offset +
      axes.yaxis.l2p(50)];
    }"""
    page.mouse.move(*page.evaluate(point))
    page.locator(".hoverlayer .hovertext").wait_for()
    # A tick passes between the look and the click.
    wait_for_ticks(page, 1)
    clicked = page.get_by_text("clicked [50, 'auto']")
    for _ in range(5):  # on a busy machine a redraw can fall between the button's down and up
        page.mouse.move(*page.evaluate(point))
        page.mouse.down()
        page.mouse.up()
        with contextlib.suppress(NotInTime):
            clicked.wait_for(timeout=6_000)
            break
    assert clicked.is_visible()
    assert outside == []


def drag(page, plot) -> None:
    """Zoom into the middle of a figure."""
    plot.scroll_into_view_if_needed()
    area = plot.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(area["x"] + 0.3 * area["width"], area["y"] + 0.3 * area["height"])
    page.mouse.down()
    page.mouse.move(area["x"] + 0.6 * area["width"], area["y"] + 0.9 * area["height"], steps=8)
    page.mouse.up()


@pytest.mark.visit
def test_zoom_and_hidden_traces_are_kept_by_name_and_start_afresh_for_other_data(serve, page):
    page.goto(serve(CHANGING))
    curve, spectrum = page.locator(".js-plotly-plot").nth(0), page.locator(".js-plotly-plot").nth(1)
    spectrum.locator(".nsewdrag").first.wait_for()
    ranges = "() => [...document.querySelectorAll('.js-plotly-plot')].map((plot) => plot.layout.xaxis.range)"
    hidden = """() => document.querySelector('.js-plotly-plot')._fullData
      .filter((trace) => trace.visible === 'legendonly').map((trace) => trace.name)"""
    first = page.evaluate(ranges)
    for i, plot in enumerate((curve, spectrum)):
        drag(page, plot)
        page.wait_for_function(f"({ranges})()[{i}][0] > {first[i][0]}")
    curve.locator(".legend .traces").filter(has_text="best found").locator(".legendtoggle").click()
    page.wait_for_function(f"({hidden})().includes('best found')")
    zoomed = page.evaluate(ranges)
    page.get_by_text("more methods").click()
    curve.locator(".legend .traces").filter(has_text="cone").wait_for()
    assert page.evaluate(ranges) == zoomed and page.evaluate(hidden) == ["best found"]
    page.get_by_text("other data").click()
    page.wait_for_function(
        f"({ranges})().every((range, i) => JSON.stringify(range) !== JSON.stringify({json.dumps(zoomed)}[i]))"
    )
    assert page.evaluate(hidden) == []
    assert page.evaluate(ranges)[0][1] >= 380


@pytest.mark.visit
def test_a_click_that_nobody_waits_for_runs_no_page(serve, page):
    page.goto(serve(CHANGING))
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.get_by_text("run 1").wait_for()
    page.evaluate("""() => {
      const plot = document.querySelector('.js-plotly-plot');
      plot.emit('plotly_click', { points: [{ customdata: [50, 'auto'] }] });
    }""")
    page.get_by_text("more methods").click()
    page.get_by_text("run 2").wait_for()


@pytest.mark.visit
def test_a_finger_that_scrolls_the_page_from_a_figure_leaves_it_alive(serve, page):
    """The browser then cancels the pointer, and nobody hears of its release."""
    page.goto(serve(TICKING))
    page.wait_for_selector(".js-plotly-plot .main-svg")
    wait_for_ticks(page, 1)
    page.evaluate("""() => {
      window.plot = document.querySelector('.js-plotly-plot');
      const told = (kind) => plot.dispatchEvent(new PointerEvent(kind, { pointerId: 7, bubbles: true }));
      told('pointerdown');
      told('pointercancel');
    }""")
    drawn = "plot.calcdata.map(points => points.map(point => point.y)).join()"
    before = page.evaluate(drawn)
    page.wait_for_function(f"{drawn} !== {json.dumps(before)}", timeout=180_000)
