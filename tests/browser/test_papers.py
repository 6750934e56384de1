"""Tests of the papers page in a browser: the first screen, a figure computed and found again."""

import pytest
from playwright.sync_api import expect


@pytest.mark.visit
def test_a_figure_is_opened_computed_and_found_again(page, app_url):
    page.goto(f"{app_url}/papers")
    expect(page.get_by_role("heading", name="Do we get the numbers of the papers?")).to_be_visible()
    expect(page.get_by_role("heading", name="printed claims")).to_be_visible()
    # The button of the card lies over its picture, and takes the click.
    page.get_by_role("img", name="Figure 2 (left) in small").click(force=True)
    expect(page.get_by_role("heading", name="Figure 2 (left)")).to_be_visible()
    page.goto(f"{app_url}/papers?paper=sigg2008&item=sigg2008-figure-1")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()  # what is drawn moves the button
    page.get_by_role("button", name="Compute it here").click()
    expect(page.get_by_text("Computed here on")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Computed here on")).to_be_visible()
    expect(page.locator("table.claims")).to_contain_text("the soft threshold")


@pytest.mark.visit
@pytest.mark.parametrize("address", ["papers?item=asteris2014-figure-4", "papers?paper=exact"])
def test_the_first_screen_has_the_answer_and_its_picture(page, app_url, address):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app_url}/{address}")
    picture = page.locator(".js-plotly-plot .main-svg, [data-testid='stDataFrame']").first
    expect(picture).to_be_visible()
    box = picture.bounding_box()
    assert box["y"] + box["height"] <= 900, "the picture ends below the first screen"
