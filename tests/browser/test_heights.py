"""No page of an answer is higher than 3000 pixels with its usual answer, on a desktop and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.folds import change_question, fold

HIGHEST = 3000
SCREENS = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
HEIGHT = "document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight"
READY = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  return app?.dataset.testScriptState === 'notRunning' &&
    !document.querySelector('[data-testid=stSkeleton]') &&
    !/answer is on its way|Solving \\d/.test(document.body.innerText);
}"""
PAGES = (
    "",
    "sweep?sample=digits",
    "sweep?sample=pitprops",
    "components?sample=digits",
    "components?sample=state-of-the-union",
    "components?sample=all-aml",
    "components?sample=pitprops",
    "papers?item=asteris2014-figure-4",
    "papers?paper=exact",
    "runs",
)


def heights(page) -> dict[str, int]:
    """Return the height of the open page on each screen, when it no longer changes."""
    found = {}
    for name, size in SCREENS.items():
        page.set_viewport_size(size)
        page.wait_for_timeout(
            1500
        )  # figures follow the width a little later, and legends add to their height
        found[name] = page.evaluate(HEIGHT)
    return found


@pytest.mark.visit
@pytest.mark.parametrize("address", PAGES)
def test_no_page_is_high(page, app_url, address):
    page.goto(f"{app_url}/{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_timeout(1000)
    page.wait_for_function(READY)
    found = heights(page)
    assert max(found.values()) < HIGHEST, found


@pytest.mark.visit
def test_a_finished_sweep_is_not_high(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits&from=1&to=12")
    change_question(page)
    page.get_by_role("button", name="Compute ").click()
    expect(fold(page, "The proof")).to_be_visible()
    page.wait_for_function(READY)
    found = heights(page)
    assert max(found.values()) < HIGHEST, found
