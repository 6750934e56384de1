"""The papers page in a browser: a card is opened, computed while one watches, cancelled, found again."""

import re

import pytest
from playwright.sync_api import expect


@pytest.mark.visit
def test_a_figure_is_opened_computed_and_found_again(page, app_url):
    page.goto(f"{app_url}/papers")
    expect(page.get_by_role("heading", name="Do the papers’ numbers come out?")).to_be_visible()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.get_by_text("Sigg, Buhmann 2008").click()
    expect(page.get_by_text("Choosing genes")).to_be_visible()
    page.goto(f"{app_url}/papers?paper=sigg2008&item=sigg2008-figure-1")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()  # what is drawn moves the button
    page.get_by_role("button", name="Compute it here").click()
    expect(page.get_by_text("Computed here on")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Computed here on")).to_be_visible()
    expect(page.locator("table.claims")).to_contain_text("the soft threshold")


@pytest.mark.visit
def test_links_to_the_uses_from_before_still_lead_there_and_one_runs(page, app_url):
    page.goto(f"{app_url}/compare?judged=uses&use=pitprops&props=3")
    expect(page).to_have_url(re.compile("/papers"))
    page.get_by_role("button", name="Find six components").click()
    expect(page.get_by_role("button", name="Curves, CSV")).to_be_visible()
    expect(page.get_by_text("features used, added up")).to_be_visible()
