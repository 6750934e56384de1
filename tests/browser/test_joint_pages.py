"""Parts and topics in a real browser: run, look, reload, cancel."""

import re

import pytest
from playwright.sync_api import expect

GAIN = re.compile(r"Found at once, \d+ (parts|topics) explain [\d.]+ % more than found one by one\.")


@pytest.mark.visit
def test_faces_are_taken_apart_and_found_again_after_a_reload(page, app_url):
    page.goto(f"{app_url}/parts?pictures=cbcl&r=3&size=20&by=joint,tpower&proof=none")
    page.get_by_role("button", name="Find 3 parts").click()
    expect(page.get_by_role("button", name="Parts, NPZ")).to_be_visible()
    heading = page.get_by_role("heading", name=GAIN)
    said = heading.inner_text()
    figures = page.locator(".js-plotly-plot")
    expect(figures).to_have_count(
        6
    )  # all in one, two rows of parts, cumulative variance, two reconstructions
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile(r"[?&]face=2(&|$)"))
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Parts, CSV").click()
    assert taken.value.path().read_text(encoding="utf-8-sig").startswith("method,part,rank,feature,weight")
    page.reload()
    expect(heading).to_have_text(said)
    expect(page.get_by_test_id("stSlider").filter(has_text="Image").get_by_role("slider")).to_have_attribute(
        "aria-valuetext", "2"
    )


@pytest.mark.visit
def test_topics_live_then_documents(page, app_url):
    page.goto(f"{app_url}/topics?texts=bow-kos&r=4&size=8&by=joint,cone&proof=none")
    page.get_by_role("button", name="Find 4 topics").click()
    expect(page.get_by_role("button", name="Topics, CSV")).to_be_visible()
    expect(page.get_by_role("heading", name=GAIN)).to_be_visible()
    expect(page.locator(".nspca-topics")).to_have_count(2)
    expect(page.locator(".nspca-topics").first.locator("li")).to_have_count(32)
    expect(page.get_by_text("The documents that load most")).to_be_visible()
    page.get_by_text("How words are matched to topics").click()
    expect(page.locator(".js-plotly-plot").filter(has_text="goal").first).to_be_visible()


@pytest.mark.visit
def test_a_long_run_fills_in_and_is_cancelled(page, app_url):
    page.goto(f"{app_url}/topics?texts=python-docs&r=20&size=40&by=joint,threshold&proof=none&raw=1")
    page.get_by_role("button", name="Find 20 topics").click()
    expect(page.get_by_text(re.compile(r"of 2 methods ready; joint: "))).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile(r"of 2 methods ready; "))).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


@pytest.mark.visit
def test_the_two_bounds_close_on_each_other_and_more_is_proved_on_request(page, app_url):
    page.goto(f"{app_url}/parts?pictures=digits&r=4&size=12&by=joint&proof=fast")
    page.get_by_role("button", name="Find 4 parts").click()
    expect(page.get_by_text("Shown: digits, 4 parts of 12 pixels")).to_be_visible()
    more = page.get_by_role("button", name="Prove more")
    expect(more).to_be_visible()
    before = _proved(page)
    more.click()
    expect(
        page.get_by_text(re.compile(r"Proving with (standard|thorough) effort|Worked on for"))
    ).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile(r"From [\d.]+ % to [\d.]+ %\."))).to_be_visible()
    page.get_by_text("How the gap closed").click()
    expect(page.locator(".js-plotly-plot").filter(has_text="best found")).to_be_visible()
    assert _proved(page) > before
    page.get_by_role("button", name="Verify now").click()
    expect(page.get_by_text(re.compile(r"Checked in .* recomputed from the data"))).to_be_visible()


def _proved(page) -> float:
    said = page.get_by_text(re.compile(r"At least [\d.]+ % of the best possible")).first.inner_text()
    return float(re.search(r"At least ([\d.]+) %", said)[1])
