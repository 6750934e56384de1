"""The pages Learn and Sweep by keyboard alone: Tab, arrows, Enter and Space do all that a mouse does."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks import accessibility
from tests.browser.folds import fold

HAS_FOCUS = "element => element === element.getRootNode().activeElement"
pytestmark = pytest.mark.visit


def reach(page: Page, control: Locator) -> Locator:
    """Press Tab until a control has the focus."""
    expect(control).to_be_visible()
    for _ in range(accessibility.MOST_TABS):
        if control.evaluate(HAS_FOCUS):
            return control
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {control}")


def press(page: Page, control: Locator, key: str = "Enter") -> None:
    """Reach a control, and press a key on it."""
    reach(page, control)
    page.keyboard.press(key)


def button(page: Page, name: str | re.Pattern) -> Locator:
    return page.get_by_test_id("stMain").get_by_role("button", name=name)


def open_fold(page: Page, title: str) -> None:
    """Open a folded part of a page by keyboard."""
    line = fold(page, title)
    press(page, line)
    expect(line.locator("..")).to_have_attribute("open", "")


def turn(page: Page, title: str) -> None:
    """Go on to the next screen of the lesson."""
    press(page, button(page, "Next"))
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def test_learn(page, app_url):
    page.goto(f"{app_url}/learn")
    expect(page.get_by_role("heading", name="Which direction varies most?")).to_be_visible()
    turn(page, "Do a few features do as well?")
    open_fold(page, "2006: one weight at a time")

    turn(page, "Why can the best few be found?")
    angle = page.locator(".nspca-spx .angle")
    before = angle.input_value()
    press(page, angle, "ArrowRight")
    assert angle.input_value() != before
    expect(page).to_have_url(re.compile("screen=3"))  # the key moved the angle, not the page
    press(page, button(page, "Reveal"))
    expect(page.locator(".nspca-spx .told")).to_contain_text("You guessed")

    turn(page, "How is everything else ruled out?")
    step = page.locator(".nspca-cones .step")
    press(page, step, "End")
    expect(step).to_have_attribute("aria-valuetext", re.compile("none is open"))
    press(page, step, "ArrowLeft")
    expect(page).to_have_url(re.compile("screen=4"))

    turn(page, "How good is your own guess?")
    cell = page.locator(".nspca-paint button[tabindex='0']")
    press(page, cell, " ")
    page.keyboard.press("ArrowUp")  # the edge holds
    expect(page).to_have_url(re.compile(r"painted=0(&|$)"))
    expect(page.locator(".nspca-paint button").first).to_be_focused()  # also after the page was drawn again
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    expect(page.locator(".nspca-paint .say")).to_have_text("8 of 8 painted")
    expect(page).to_have_url(re.compile("screen=5"))
    expect(button(page, "Reveal")).to_be_enabled()
    press(page, button(page, "Reveal"))
    expect(page.get_by_text("No 8 pixels with nonnegative weights keep more")).to_be_visible()

    turn(page, "When is nothing left to search?")
    press(page, button(page, "Search"))
    expect(page.get_by_text("Proved optimal: nothing better exists.")).to_be_visible()
    open_fold(page, "For the teacher")
    press(page, button(page, "Previous"))
    expect(page.get_by_role("heading", name="How good is your own guess?")).to_be_visible()


def test_sweep(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits&from=2&to=6&step=2&effort=fast")
    slider = page.get_by_role("slider", name="k, the number of")
    reach(page, slider)
    shown = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", shown)

    open_fold(page, "· change")
    last = reach(page, page.get_by_label("to", exact=True))
    page.keyboard.press("Control+a")
    page.keyboard.type("8")
    page.keyboard.press("Enter")
    expect(last).to_have_value("8")
    press(page, button(page, re.compile("^Compute ")))
    expect(page.locator("summary").filter(has_text="The proof")).to_be_visible()

    press(page, slider, "Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^1:"))
    expect(page).to_have_url(re.compile(r"[?&]k=1(&|$)"))
    open_fold(page, "one by one, and the images")
    open_fold(page, "The proof")
    press(page, button(page, "Verify now").first)
    expect(page.get_by_text("Checked").first).to_be_visible()
    press(page, button(page, "Share"))
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    with page.expect_download() as download:
        press(page, page.get_by_test_id("stPopoverBody").get_by_role("button", name="ZIP"))
    assert download.value.suggested_filename.endswith(".zip")


@pytest.mark.parametrize(
    "name", ["sweep", *(name for name in accessibility.VIEWS if name.startswith("learn"))]
)
def test_tab_reaches_every_control(browser, app_url, name):
    for _, page in accessibility.shown(browser, app_url, "light", [name]):
        accessibility.unfold(page)
        assert accessibility.unreached(page) == []
