"""A search until several components are proved optimal in a real browser: started, watched, ended."""

import re

import pytest
from playwright.sync_api import expect

from nspca.dashboard.proof.optimal import LABEL, LINE, STOP

IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


@pytest.mark.visit
def test_parts_are_searched_together_cancelled_and_proved(page, app_url):
    page.goto(f"{app_url}/components?sample=digits&r=4&size=8&by=joint&proof=fast&signed=1")
    page.get_by_role("button", name="Find 4 parts").click()
    page.get_by_role("button", name=LABEL).wait_for()
    page.wait_for_function(IDLE)  # pictures move the button while the page is drawn
    page.get_by_role("button", name=LABEL).click()
    picture = page.locator(".js-plotly-plot").filter(has_text="in every better answer")
    expect(picture).to_contain_text("undecided: 256")
    line = page.locator(f".st-key-{LINE}")
    expect(line.get_by_text("of the best, still rising")).to_be_visible()
    line.get_by_role("button", name=STOP).click()
    expect(page.get_by_role("button", name=LABEL)).to_be_visible()
    kept = re.compile(r"No other 4 parts explain [\d.]+ % more: proved\.")
    expect(page.get_by_role("heading", name=kept)).to_be_visible()
    page.goto(f"{app_url}/components?sample=digits&r=2&size=4&by=joint&proof=fast")
    page.get_by_role("button", name="Find 2 parts").click()
    page.get_by_role("button", name=LABEL).wait_for()
    page.wait_for_function(IDLE)  # pictures move the button while the page is drawn
    page.get_by_role("button", name=LABEL).click()
    proved = page.get_by_role("heading", name="No other 2 parts explain more: proved.")
    expect(proved).to_be_visible()
    best = page.locator(".js-plotly-plot").filter(has_text="in the best answer: 8")
    expect(best).to_contain_text("ruled out: 120")
    page.reload()
    expect(proved).to_be_visible()
