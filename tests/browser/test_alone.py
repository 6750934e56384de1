"""The section "Is it the only one?" of Sweep in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.folds import fold, unfold


@pytest.mark.visit
def test_the_best_set_is_proved_to_be_the_only_one_and_that_is_kept(page, app_url):
    page.goto(f"{app_url}/sweep?sample=pitprops&from=4&to=4&step=1")
    expect(page.get_by_role("heading", name=re.compile("4 features are the best 4"))).to_be_visible()
    unfold(page, "Is it the only one?")
    page.get_by_role("button", name="Prove how much less the others explain").click()
    proved = page.get_by_text("every other set of at most 4 features explains at least")
    expect(proved).to_be_visible()
    page.reload()  # what was proved is kept, and the section is open
    expect(proved).to_be_visible()
    expect(fold(page, "Is it the only one?")).to_be_visible()
