"""Methods side by side in a real browser: they fill in, more is asked, a reload returns, Cancel stops."""

import re

import pytest
from playwright.sync_api import expect

METHODS = "auto,em,tpower,epsnet,threshold,pca"


def open_section(page, label):
    """Open a section below the answer."""
    page.get_by_test_id("stButtonGroup").get_by_text(label, exact=True).click()


@pytest.mark.visit
@pytest.mark.parametrize("sample", ["digits", pytest.param("orl-faces", marks=pytest.mark.long)])
def test_six_methods_on_pictures_and_what_else_can_be_asked(page, app_url, sample):
    page.goto(f"{app_url}/compare?sample={sample}&ks=5,10&rivals={METHODS}")
    page.get_by_role("button", name="Compare 6 methods at 2 values of k").click()
    expect(page.get_by_role("heading", name="methods do best")).to_be_visible()
    section = page.locator("details").filter(has_text="Values of k").last
    bars, curves = (section.locator(".js-plotly-plot").nth(place) for place in (0, 1))
    expect(curves).to_contain_text("nothing above this (proved)")
    expect(bars).to_contain_text("proved limit")
    for method in METHODS.split(","):
        expect(curves.locator(".legend")).to_contain_text(method)
        expect(bars).to_contain_text(method)
    expect(page.get_by_text("baseline: the k largest weights")).to_be_visible()
    loadings = re.compile(r"\d %$")
    pictures = section.locator(".js-plotly-plot").filter(has_text=loadings, has_not_text="proved limit")
    expect(pictures).to_have_count(1)  # of all methods together
    for method in METHODS.split(","):
        expect(pictures).to_contain_text(method)

    open_section(page, "More components")
    page.get_by_role("button", name="components by every method").click()
    expect(page.get_by_text("number of components", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Curves, CSV")).to_be_visible()
    open_section(page, "Other samples")
    page.get_by_role("button", name="Draw the rows 20 times").click()
    expect(page.get_by_text("mean overlap of two draws")).to_be_visible()
    expect(page.get_by_role("button", name="Frequencies, CSV")).to_be_visible()

    page.reload()
    expect(page.get_by_role("button", name="Frequencies, CSV")).to_be_visible()
    with page.expect_download() as given:
        page.get_by_role("button", name="All numbers, CSV").click()
    text = given.value.path().read_text("utf-8-sig")
    assert len(text.splitlines()) == 1 + 6 * 2 and "source" in text.splitlines()[0]


@pytest.mark.visit
def test_a_long_comparison_is_cancelled_and_what_was_ready_stays(page, app_url):
    page.goto(
        f"{app_url}/compare?sample=orl-faces&rivals=threshold,spca,nmf&ks=5,10,20,40,80,160&effort=thorough"
    )
    page.get_by_role("button", name="Compare 3 methods").click()
    expect(page.get_by_text(re.compile(r", [1-9]\d* of 24$"))).to_be_visible()
    section = page.locator("details").filter(has_text="Values of k").last
    section.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
    expect(section.locator(".js-plotly-plot").first).to_contain_text("threshold")
    page.reload()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
