"""The browser's Back: one entry for each thing done, and the form together with what it asked for."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.folds import change_question, fold

IDLE = "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"


def settle(page):
    """Wait until the page has noticed another address, on a busy machine too."""
    page.wait_for_timeout(1000)
    page.wait_for_function(IDLE)


@pytest.mark.visit
def test_back_leads_through_what_was_done(page, app_url):
    page.goto(f"{app_url}/spannogram?sample=pitprops")
    expect(page.locator(".nspca-spx .set")).to_have_count(1)
    expect(page.get_by_text("have to be checked")).to_be_visible()
    change_question(page)
    slider = page.get_by_role("slider", name="k, the number")
    before, entries = slider.get_attribute("aria-valuetext"), page.evaluate("history.length")
    expect(page.get_by_text("on its way")).to_have_count(0)  # a tighter limit moves what is below it
    slider.scroll_into_view_if_needed()
    slider.hover(force=True)  # waits until the form has unfolded; its track lies over it
    box = slider.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    for step in range(1, 5):  # slow enough that the page takes each value for the last one
        page.mouse.move(middle[0] + 60 * step, middle[1], steps=3)
        page.wait_for_timeout(400)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"\bk=\d+"))
    dragged = slider.get_attribute("aria-valuetext")
    page.get_by_text("of any sign", exact=True).click()
    expect(page).to_have_url(re.compile("signed=1"))
    page.get_by_role("link", name="Sweep", exact=True).click()
    expect(page).to_have_url(re.compile(r"/sweep\?(?!.*view=).*signed=1"))
    change_question(page)
    page.get_by_role("button", name=re.compile("^Compute ")).click()
    expect(fold(page, "The proof")).to_be_visible()
    expect(page).to_have_url(re.compile("run="))
    done = page.evaluate("history.length")
    assert done == entries + 4, "a drag, a switch, a page, a run, which sets two names of the address"

    page.go_back()
    expect(page).to_have_url(re.compile(r"/sweep\?(?!.*run=)"))
    settle(page)
    page.go_back()
    expect(page).to_have_url(re.compile(r"/spannogram\?.*signed=1"))
    settle(page)
    page.go_back()
    expect(page).not_to_have_url(re.compile("signed="))
    expect(fold(page, f"{dragged} features, nonnegative · change")).to_be_visible()
    page.go_back()
    expect(fold(page, f"{before} features, nonnegative · change")).to_be_visible()
    for said in (r"\bk=\d", "signed=1", "/sweep", "run="):
        page.go_forward()
        expect(page).to_have_url(re.compile(said))
        settle(page)
    expect(fold(page, "The proof")).to_be_visible()
    assert page.evaluate("history.length") == done, "nothing is pushed on the way"


@pytest.mark.visit
def test_a_deleted_run_leaves_no_menu_of_another_run_open(page, app_url):
    page.goto(f"{app_url}/sweep?sample=pitprops&to=3")
    for last in (3, 4, 5):
        if last > 3:
            page.goto(re.sub(r"to=\d", f"to={last}", page.url.split("&run=")[0]))
        expect(fold(page, "The proof")).to_be_visible()
        page.locator("summary").filter(has_text="· change").click()
        page.get_by_role("button", name=re.compile("^Compute ")).first.click()
        expect(page).to_have_url(re.compile("run="))
        expect(fold(page, "The proof")).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("button", name="More")).to_have_count(3)
    for left in (2, 1):  # the line with Undo appears above at the first deletion alone
        page.get_by_role("button", name="More").first.click()
        page.get_by_role("button", name="Delete").click()
        expect(page.get_by_text(re.compile(f"{3 - left} runs? deleted."))).to_be_visible()
        expect(page.get_by_role("button", name="More")).to_have_count(left)
        expect(page.get_by_role("button", name="Delete")).to_have_count(0, timeout=20_000)
