"""The learn page in a real browser: its keys, a guess and its answer, before a room, and at home without a
server.
"""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nspca
from nspca.lowrank.rankd import factor
from nspca.plots.spannogram import top_set

K = 8


def share(degrees: float) -> float:
    """Return the value of the better top set at an angle, in per cent of the best of all angles."""
    problem = nspca.Problem.from_data(nspca.load_sample("digits").X, k=K)
    V = factor(problem.covariance, 2)[0]

    def reached(phi):
        at = V @ [np.sin(phi), np.cos(phi)]
        return max(float((at[top_set(sign * at, K)] ** 2).sum()) for sign in (1, -1))

    return 100 * reached(np.radians(degrees)) / max(map(reached, np.linspace(-np.pi / 2, np.pi / 2, 3601)))


def guess(page) -> float:
    """Move the angle by keys, reveal, and return what was guessed; the answer is hidden until then."""
    slider = page.locator(".nspca-spx .angle")
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()
    assert page.locator(".nspca-spx .set").first.get_attribute("data-value") is None
    expect(page.locator(".nspca-spx .told")).to_be_hidden()
    slider.fill("12.5")
    page.get_by_role("button", name="Reveal").click()
    told = page.locator(".nspca-spx .told")
    expect(told).to_contain_text("You guessed 12.5°")
    said = float(re.search(r"([\d.]+) % of the optimum", told.inner_text())[1])
    assert said <= share(12.5) + 0.01 and said > share(12.5) - 0.2
    return said


@pytest.mark.visit
def test_the_next_screen_begins_at_its_top(page, app_url):
    page.set_viewport_size({"width": 390, "height": 600})
    page.goto(f"{app_url}/learn?screen=3")
    main = page.get_by_test_id("stMain")
    page.get_by_role("button", name="Next").click()  # which is below the first screen
    expect(page.get_by_role("heading", name="How is everything else ruled out?")).to_be_in_viewport()
    assert main.evaluate("(element) => element.scrollTop") == 0


@pytest.mark.visit
def test_a_lesson(page, window, app_url, tmp_path):
    page.goto(f"{app_url}/learn?present=1&screen=2")
    expect(page.get_by_role("heading", name="Do a few features do as well?")).to_be_visible()
    expect(page.get_by_role("link", name="Sweep")).to_have_count(0)
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Why can the best few be found?")).to_be_visible()
    slider = page.locator(".nspca-spx .angle")
    expect(slider).to_be_visible()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("screen=3"))  # the key moved the angle, not the page
    said = guess(page)
    expect(page).to_have_url(re.compile(r"guess=12\.5"))
    page.go_back()
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()

    page.locator("body").press("Escape")
    expect(page.get_by_role("link", name="Sweep")).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))
    with page.expect_download() as download:
        page.get_by_role("button", name="This screen as one HTML file").click()
    download.value.save_as(tmp_path / "guess.html")
    home = window.new_page()
    asked, failed = [], []
    home.on("request", lambda request: asked.append(request.url))
    home.on("pageerror", lambda error: failed.append(str(error)))
    window.set_offline(True)
    try:
        home.goto((tmp_path / "guess.html").as_uri())
        assert guess(home) == said
        assert [url for url in asked if not url.startswith("file:")] == [] and len(asked) == 1 and not failed
    finally:
        window.set_offline(False)
        home.close()

    page.goto(f"{app_url}/learn?screen=5")
    pixels = page.locator(".nspca-paint button")
    expect(pixels).to_have_count(64)
    first, last = pixels.nth(2).bounding_box(), pixels.nth(5).bounding_box()
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=8)
    page.mouse.up()
    expect(page).to_have_url(re.compile("painted=2%2C3%2C4%2C5$"))
    for pixel in (10, 11, 12, 13, 14):
        pixels.nth(pixel).click()
    expect(page.locator(".nspca-paint .say")).to_have_text("8 of 8 painted")
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("No 8 pixels with nonnegative weights keep more")).to_be_visible()
