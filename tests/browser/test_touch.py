"""A phone: a finger on a chart scrolls the page, two fingers zoom, and the room of a class is answered."""

import contextlib
import re

import pytest
from playwright.sync_api import expect

from tests.patience import wait_for

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
RANGES = """plot => JSON.stringify(Object.entries(plot._fullLayout)
  .filter(([name]) => /^[xy]axis\\d*$/.test(name))
  .map(([name, axis]) => [name, axis.range.map((end) => +end.toFixed(9))]))"""
FITS = """(() => {
  const main = document.querySelector('[data-testid=stMain]');
  return main.scrollHeight - main.clientHeight <= 4;
})()"""
SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"
MIDDLE = """plot => {
  const box = plot.getBoundingClientRect(), { l, t, w, h } = plot._fullLayout._size;
  return [box.x + l + w / 2, box.y + t + h / 2];
}"""
DRAWN = "plot => Boolean(plot._fullLayout?._size)"


@contextlib.contextmanager
def phone(browser):
    """A page of a phone, and the session that sends its touches."""
    context = browser.new_context(**PHONE)
    page = context.new_page()
    try:
        yield page, context.new_cdp_session(page)
    finally:
        context.close()


def touch(session, kind, *points):
    session.send(
        "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
    )


def swipe(session, x, y, far):
    """One finger, from a point upwards."""
    touch(session, "touchStart", (x, y))
    for step in range(1, 11):
        touch(session, "touchMove", (x, y - far * step / 10))
    touch(session, "touchEnd")


def pinch(session, x, y):
    """Two fingers that move apart around a point."""
    touch(session, "touchStart", (x - 20, y), (x + 20, y))
    for step in range(1, 6):
        touch(session, "touchMove", (x - 20 - 8 * step, y), (x + 20 + 8 * step, y))
    touch(session, "touchEnd")


def test_above_a_chart_whose_legend_is_below_there_is_no_empty_band(browser, app_url):
    with phone(browser) as (page, _):
        page.goto(app_url)
        curve = "document.querySelectorAll('.st-key-digits_curve .nspca-figure')"
        page.wait_for_function(f"[...{curve}].some({DRAWN})")
        above = "plot => [plot._fullLayout._size.t, plot._fullLayout.legend._effHeight > 0]"
        top, has_legend = page.locator(".st-key-digits_curve .nspca-figure").evaluate(above)
        assert has_legend and top < 20


@pytest.mark.visit
@pytest.mark.parametrize(
    ("address", "last"),
    [
        ("learn", ".nspca-figure"),
        ("sweep?sample=digits", ".nspca-k"),  # below the curve of the finished run, which replaces the first
        ("papers?item=asteris2014-figure-4", ".nspca-figure"),
    ],
)
def test_a_chart_never_traps_a_scroll(browser, app_url, address, last):
    with phone(browser) as (page, session):
        page.goto(f"{app_url}/{address}")
        expect(page.locator(last).first).to_be_visible()
        plot = page.locator(".nspca-figure.js-plotly-plot").first
        expect(plot.locator(".main-svg").first).to_be_visible()
        page.wait_for_function(f"({DRAWN})(document.querySelector('.nspca-figure.js-plotly-plot'))")
        expect(plot.locator(".modebar-btn")).to_have_count(0)
        plot.evaluate("plot => plot.scrollIntoView({ block: 'center' })")
        box, ranges, before = plot.bounding_box(), plot.evaluate(RANGES), page.evaluate(SCROLLED)
        x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
        swipe(session, x, y, 250 if before < 100 else -250)
        page.wait_for_function(f"Math.abs({SCROLLED} - {before}) > 100")
        assert plot.evaluate(RANGES) == ranges, "the gesture scrolled, and zoomed nothing"
        plot.evaluate("plot => plot.scrollIntoView({ block: 'center' })")
        pinch(session, *plot.evaluate(MIDDLE))
        page.wait_for_function(
            f"({RANGES})(document.querySelector('.nspca-figure.js-plotly-plot')) !== {ranges!r}"
        )
        assert page.evaluate("visualViewport.scale") == 1, "the chart was zoomed, not the page"


@pytest.mark.visit
def test_slider_and_picture_are_on_one_screen(browser, app_url):
    with phone(browser) as (page, session):
        page.goto(f"{app_url}/spannogram?sample=digits&k=6")
        slider, picture = page.locator(".nspca-spx .angle"), page.locator(".nspca-spx canvas.component")
        expect(picture).to_be_visible()
        curves = page.locator(".nspca-spx canvas.curves")
        box, angle = curves.bounding_box(), slider.input_value()
        swipe(session, box["x"] + 120, box["y"] + 60, 30)
        expect(slider).to_have_value(angle)
        curves.evaluate("canvas => canvas.scrollIntoView()")
        for part in (slider, picture):
            box = part.bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= PHONE["viewport"]["height"]
        form = page.locator(".st-key-form").bounding_box()
        assert form["y"] > picture.bounding_box()["y"], "the result stands before the form"


@pytest.mark.visit
def test_a_class_answers_on_its_phones(page, browser, app_url):
    page.goto(f"{app_url}/learn")
    page.get_by_text("With a class").click()
    page.get_by_role("button", name="Open a room").click()
    heading = page.get_by_role("heading", level=2).first
    expect(heading).to_have_text(re.compile(r"^\w{3}-\w{3}$"))
    code = heading.inner_text()
    with phone(browser) as (one, _), phone(browser) as (two, _):
        one.goto(f"{app_url}/join?room={code.replace('-', '')}")
        two.goto(f"{app_url}/join")
        two.get_by_label("Code of the room").fill(code.lower())
        two.get_by_role("button", name="Join").click()
        for place, (student, degrees) in enumerate(((one, "30"), (two, "60"))):
            student.locator(".nspca-turner .angle").fill(degrees)
            student.get_by_role("button", name="Send my guess").click()
            expect(page.get_by_text(re.compile(rf"^Guesses: {place + 1}, phones here: 2"))).to_be_visible()
        page.reload()  # the room is remembered by this browser
        page.get_by_role("button", name="Show the answer").click()
        expect(page.get_by_text("The dots vary most along")).to_be_visible()
        for student in (one, two):
            expect(student.get_by_text("on the projector")).to_be_visible()
        page.goto(f"{app_url}/learn?screen=5")
        pixels = one.locator(".nspca-paint button")
        expect(pixels).to_have_count(64)
        for pixel in (10, 11, 12, 13, 18, 19, 20, 21):
            pixels.nth(pixel).tap()
        send = one.get_by_role("button", name="Send my guess")
        expect(send).to_be_enabled()
        send.click()
        expect(page.get_by_text(re.compile("^Guesses: 1, phones here: 2"))).to_be_visible()
        page.get_by_text("With a class").click()
        page.get_by_role("button", name="Close the room").click()
        expect(page.get_by_text("2 phones answered")).to_be_visible()
        expect(one.get_by_text("The room is closed")).to_be_visible()
        page.get_by_role("button", name="Previous").click()
        expect(page.get_by_text("2 phones answered")).to_be_hidden()


FIGURE = ".nspca-figure .main-svg"
SLIDES = {
    "?digit_k=9": FIGURE,
    "data?sample=digits": "",
    "spannogram?sample=digits": ".nspca-spx canvas.curves",
    "spannogram?sample=digits&view=sphere": ".nspca-cones .world",
    "sweep?sample=digits": FIGURE,
    "components?sample=digits": FIGURE,
    "components?sample=state-of-the-union": "",
    "components?sample=pitprops": FIGURE,
    "papers?item=asteris2014-figure-4": FIGURE,
    "runs?find=": "",
    "learn?screen=1": FIGURE,
    "learn?screen=2": FIGURE,
    "learn?screen=3": ".nspca-spx canvas.curves",
    "learn?screen=4": ".nspca-cones .world",
    "learn?screen=5": ".nspca-paint .grid",
    "learn?screen=6": FIGURE,
    "join?room=": "",
}
"""Addresses that are presented, each with its main picture where it has one."""


@pytest.mark.visit
def test_present_mode_is_wholly_visible(page, app_url):
    for address, picture in SLIDES.items():
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(f"{app_url}/{address}&present=1")
        drawn, leave = page.locator(picture or "h1").first, page.get_by_role("button", name="Leave")
        expect(drawn).to_be_visible()
        expect(leave).to_be_visible()
        for size in ({"width": 1280, "height": 720}, {"width": 1920, "height": 1080}):
            page.set_viewport_size(size)
            high = size["height"]
            page.wait_for_function(FITS)
            if picture:  # it grows once everything beside it has its place
                wait_for(lambda: drawn.bounding_box()["height"] > 0.25 * high)  # noqa: B023
            page.wait_for_function(FITS)
            box = leave.bounding_box()
            assert box["y"] + box["height"] <= high, (address, size)
    page.locator("body").press("Escape")
    expect(page).not_to_have_url(re.compile("present"))
