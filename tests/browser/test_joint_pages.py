"""The page Components in a real browser: run, look, reload, cancel, choose samples with a lasso."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.folds import single_files

SAID = re.compile(r"^\d+ (parts|topics|lists|components) of [\d, and]+ \w+\. In each, the \w+ \w+ together: ")
IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


@pytest.mark.visit
def test_faces_are_taken_apart_and_found_again_after_a_reload(page, app_url):
    page.goto(f"{app_url}/components?sample=orl-faces&r=3&size=20&by=joint,tpower&proof=none")
    page.get_by_role("button", name="Find 3 parts").click()
    heading = page.get_by_role("heading", name=SAID)
    expect(heading).to_contain_text("3 parts")  # not the answer to the usual question, which was there before
    expect(heading).not_to_contain_text("so far")
    said = heading.inner_text()
    # all in one, one by one, an image part after part, and the map of images
    expect(page.locator(".js-plotly-plot")).to_have_count(4)
    page.get_by_role("slider").first.press("Home")  # it begins with the image that the parts show best
    expect(page).to_have_url(re.compile(r"[?&]face=1(&|$)"))
    page.wait_for_function(IDLE)
    page.get_by_role("slider").first.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]face=2(&|$)"))
    page.wait_for_function(IDLE)
    single_files(page)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Parts, CSV").click()
    assert taken.value.path().read_text(encoding="utf-8-sig").startswith("method,part,rank,feature,weight")
    page.reload()
    expect(heading).to_be_visible()
    assert heading.inner_text() == said
    expect(page.get_by_role("slider").first).to_have_attribute("aria-valuetext", "2")


@pytest.mark.visit
def test_the_form_folds_when_its_run_begins_so_that_the_answer_is_in_sight(page, app_url):
    page.goto(f"{app_url}/components?sample=pitprops")
    form = page.locator("details").filter(has_text="Number of components").first
    page.get_by_text("change", exact=True).last.click()
    expect(form).to_have_attribute("open", "")
    page.get_by_role("spinbutton", name="Number of components").fill("2")
    page.get_by_role("spinbutton", name="Number of components").press("Enter")
    page.get_by_role("button", name="Find 2 components").click()
    expect(page.get_by_role("heading", name=SAID)).to_contain_text("2 lists")
    expect(form).not_to_have_attribute("open", "")
    expect(page.get_by_role("heading", name=SAID)).to_be_in_viewport()


@pytest.mark.visit
def test_a_pressed_list_shows_its_documents(page, app_url):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app_url}/components?sample=state-of-the-union")
    lists = page.locator(".st-key-pressed_lists[data-pressable] section")
    expect(lists).to_have_count(8)
    page.wait_for_function(IDLE)
    lists.nth(2).click()
    expect(page.get_by_role("heading", name="Topic 3")).to_be_in_viewport()
    expect(lists.nth(2).get_by_role("heading")).to_have_css("border-bottom-width", "4px")
    expect(page).to_have_url(re.compile(r"[?&]component=3(&|$)"))


@pytest.mark.visit
def test_a_long_run_fills_in_and_is_cancelled(page, app_url):
    page.goto(f"{app_url}/components?sample=python-docs&r=20&size=40&by=joint,threshold&proof=none&raw=1")
    page.get_by_role("button", name="Find 20 topics").click()
    expect(page.get_by_text(re.compile(r"of 2 methods ready; (?!proving)"))).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()  # a first answer has none
    page.reload()
    expect(page.get_by_text(re.compile(r"of 2 methods ready; "))).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


@pytest.mark.visit
def test_a_word_lights_up_in_documents_and_is_left_out_at_once(page, app_url):
    page.goto(f"{app_url}/components?sample=state-of-the-union&r=2&size=6&by=threshold&proof=none")
    page.get_by_role("button", name="Find 2 topics").click()
    heading = page.get_by_role("heading", name=SAID)
    expect(heading).to_be_visible()
    page.wait_for_function(IDLE)
    word = page.locator(".nspca-topics li").first
    name = word.get_attribute("data-word")
    mark = page.locator(f".nspca-document mark[data-word='{name}']").first
    expect(mark).to_be_visible()
    word.hover()
    expect(mark).to_have_class("lit")
    page.get_by_role("button", name=f"without {name}", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]out=\d+"))
    expect(page.get_by_text(f"Without {name}", exact=True)).to_be_visible()
    expect(page.locator(f".nspca-topics li[data-word='{name}']")).to_have_count(0)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(f".nspca-topics li[data-word='{name}']")).to_have_count(1)
    assert "out=" not in page.url


@pytest.mark.visit
def test_an_image_is_shown_at_its_mark_and_found_by_its_name(page, app_url):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app_url}/components?sample=orl-faces")
    points = page.locator("[data-testid=stMain] .js-plotly-plot .scatterlayer .point")
    expect(points.first).to_be_attached()
    page.wait_for_function(IDLE)
    points.first.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box = points.first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    expect(page.locator(".nspca-thumb")).to_be_visible()
    page.get_by_role("textbox", name="Search").fill("person 7, picture 1")
    page.get_by_role("textbox", name="Search").press("Enter")
    expect(page.get_by_text("with a ring on the map")).to_be_visible()
    expect(page.locator(".js-plotly-plot text").filter(has_text="person 7, picture 1").first).to_be_visible()


@pytest.mark.visit
def test_a_lasso_asks_again_without_the_samples_in_it(page, app_url):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app_url}/components?sample=all-aml&r=2&size=5&by=threshold&proof=none")
    page.get_by_role("button", name="Find 2 components").click()
    figure = page.get_by_role("figure", name=re.compile("^Map of samples: 38 samples"))
    expect(figure).to_be_visible()
    page.wait_for_function(IDLE)
    box = figure.locator(".nsewdrag").first.bounding_box()
    left, top = box["x"] + 2, box["y"] + 2
    right, bottom = left + box["width"] / 2, top + box["height"] - 4
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y, steps=5)
    page.mouse.up()
    chosen = page.get_by_text(re.compile(r"\d+ samples chosen"))
    expect(chosen).to_be_visible()
    count = int(chosen.inner_text().split()[0])
    with page.expect_download() as taken:
        page.get_by_role("button", name="Chosen samples, CSV").click()
    rows = taken.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert taken.value.suggested_filename.endswith("-chosen-samples.csv") and len(rows) == count + 1 > 2
    page.get_by_role("button", name="Without these").click()
    left_over = re.compile(f"^Map of samples: {38 - count} samples")
    expect(page.get_by_role("figure", name=left_over)).to_be_visible()
    expect(page.get_by_text(f"Without {count} samples", exact=True)).to_be_visible()
