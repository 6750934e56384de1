"""A search until a component is proved optimal in a real browser: started, watched, cancelled, ended."""

import re

import pytest
from playwright.sync_api import expect

from nspca.dashboard.proof.optimal import LABEL, PROVED
from tests.browser.folds import unfold


@pytest.mark.visit
def test_a_search_rules_out_pixels_until_nothing_better_exists(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits&from=14&to=14&step=1")
    page.get_by_role("button", name=re.compile("^Compute ")).click()
    page.get_by_role("button", name=LABEL).click()
    expect(page.get_by_text(PROVED)).to_be_visible()
    expect(page.get_by_role("button", name=LABEL)).to_have_count(0)
    picture = page.locator(".js-plotly-plot").filter(has_text="in the best answer: 14")
    expect(picture).to_contain_text("ruled out: 50")
    expect(page.locator(".js-plotly-plot").first).to_contain_text("proved optimal")
    page.reload()
    expect(page.get_by_text(PROVED)).to_be_visible()


@pytest.mark.visit
def test_a_hard_search_is_cancelled_and_goes_on(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits&from=20&to=20&step=1&signed=1")
    page.get_by_role("button", name=re.compile("^Compute ")).click()
    page.get_by_role("button", name=LABEL).click()
    picture = page.locator(".js-plotly-plot").filter(has_text="in no better answer")
    expect(picture).to_be_visible()
    progress = page.get_by_text(re.compile(r"^At least 9\d\.\d+ % of the best possible.*, \d+ s$"))
    expect(progress).to_be_visible()
    page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was proved by then is kept")).to_be_visible()
    before = _ruled_out(picture)
    unfold(page, "The proof")
    page.get_by_text("How the gap closed").click()
    expect(page.locator(".js-plotly-plot").filter(has_text="best found").last).to_be_visible()
    page.get_by_role("button", name="Verify now").click()
    expect(page.get_by_text(re.compile(r"Checked in .* recomputed from the data"))).to_be_visible()
    page.get_by_role("button", name=LABEL).click()
    expect(progress).to_be_visible()
    expect(picture).to_have_count(1)  # for a moment the picture of before stands beside it
    assert _ruled_out(picture) >= before > 0
    page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name=LABEL)).to_be_visible()


@pytest.mark.visit
def test_pixels_of_the_lesson_turn_green_and_grey(page, app_url):
    page.goto(f"{app_url}/learn?screen=6")
    picture = page.locator(".js-plotly-plot").first
    expect(picture).to_contain_text("undecided: 64")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text(PROVED)).to_be_visible()
    expect(picture).to_contain_text("in the best answer: 8")


def _ruled_out(picture) -> int:
    """Return how many features a picture of a search says are in no better answer."""
    return int(re.search(r"in no better answer: (\d+)", picture.inner_text())[1])
