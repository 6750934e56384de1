"""A search until a component is proved optimal in a real browser: started, watched, cancelled, ended."""

import re

import pytest
from playwright.sync_api import expect

from nspca.dashboard.proof.optimal import LABEL, STOP


@pytest.mark.visit
def test_the_line_rises_by_itself_until_nothing_better_exists(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits&from=9&to=9&step=1&signed=1")
    proved = page.get_by_role("heading", name=re.compile("are the best 9: proved"))
    expect(proved).to_be_visible()
    expect(page.get_by_role("button", name=LABEL)).to_have_count(0)
    page.reload()
    expect(proved).to_be_visible()


@pytest.mark.visit
def test_a_hard_search_is_stopped_and_goes_on(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits&from=20&to=20&step=1&signed=1")
    rising = page.get_by_text(re.compile(r"^at least 9\d\.\d+ % of the best, still rising"))
    expect(rising).to_be_visible()
    page.get_by_role("button", name=STOP, exact=True).click()
    expect(page.get_by_text(re.compile("the best within .* %: proved"))).to_be_visible()
    page.get_by_role("button", name=LABEL).click()
    expect(rising).to_be_visible()
    page.get_by_role("button", name=STOP, exact=True).click()
    expect(page.get_by_role("button", name=LABEL)).to_be_visible()


@pytest.mark.visit
def test_pixels_of_the_lesson_turn_green_and_grey(page, app_url):
    page.goto(f"{app_url}/learn?screen=6")
    picture = page.locator(".js-plotly-plot").first
    expect(picture).to_contain_text("undecided: 64")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("nothing better exists")).to_be_visible()
    expect(picture).to_contain_text("in the best answer: 8")
