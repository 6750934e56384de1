"""The main job in a real browser: choose, sweep, look, cancel, reload."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.folds import change_question, unfold

ANSWER = "show in the main direction"
BAND = re.compile(r"the optimum is in here \(proved\)|proved optimal")  # where no room is left, rings stand


def chosen_k(page: Page):
    return page.get_by_test_id("stSlider").get_by_role(
        "slider", name="k, the number of features, or click on the curve"
    )


def click_point(page: Page, index: int) -> None:
    """Click on a point of the found values: the last curve of the first figure."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    points = (
        page.locator(".js-plotly-plot")
        .first.locator(".subplot.xy .scatterlayer .trace")
        .last.locator(".points path")
    )
    points.nth(index).click(force=True)  # Plotly's own layer lies above and takes the click


@pytest.mark.visit
def test_from_the_first_page_to_a_component_and_back_after_a_reload(page, app_url):
    page.goto(app_url)
    page.get_by_role("link", name="Choose a sample").click()
    page.get_by_role("button", name="Infrared spectra (LRS)").click()
    expect(page.get_by_role("heading", name="Infrared spectra (LRS)")).to_be_visible()
    page.get_by_role("link", name="how many wavelengths are enough").click()
    change_question(page)
    page.get_by_label("to", exact=True).fill("30")
    page.get_by_label("to", exact=True).press("Enter")
    page.get_by_label("step", exact=True).fill("5")
    page.get_by_label("step", exact=True).press("Enter")
    page.get_by_role("button", name="Run 6 problems").click()
    expect(page.get_by_role("button", name="Single files")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_contain_text(BAND)

    click_point(page, 1)
    expect(page).to_have_url(re.compile(r"[?&]k=6(&|$)"))
    expect(chosen_k(page)).to_have_attribute("aria-valuetext", "6")
    expect(page.get_by_text("No 6 wavelengths with nonnegative weights keep")).to_be_visible()
    expect(page.locator(".js-plotly-plot").filter(has_text="wavelength")).to_be_visible()
    unfold(page, "one by one, and the samples")
    expect(page.locator(".js-plotly-plot").filter(has_text="score along the component")).to_be_visible()

    said = page.get_by_role("heading", name=ANSWER).inner_text()
    page.reload()
    expect(page.get_by_role("heading", name=ANSWER)).to_have_text(said)
    expect(chosen_k(page)).to_have_attribute("aria-valuetext", "6")
    click_point(page, 5)
    expect(page).to_have_url(re.compile(r"[?&]k=26(&|$)"))
    page.go_back()
    page.get_by_role("link", name="Sweep", exact=True).click()
    expect(page.get_by_role("heading", name=ANSWER)).to_be_visible()


@pytest.mark.visit
@pytest.mark.parametrize(
    ("sample", "n", "effort"),
    [("digits", 64, "standard"), pytest.param("orl-faces", 361, "thorough", marks=pytest.mark.long)],
)
def test_a_long_run_fills_in_survives_a_reload_and_is_cancelled(page, app_url, sample, n, effort):
    page.goto(f"{app_url}/sweep?sample={sample}&from=1&to={n}&step=1&effort={effort}")
    page.get_by_role("button", name=f"Run {n} problems").click()
    progress = page.get_by_text(re.compile(rf"[1-9]\d* of {n} ready; k = \d+: .*the best possible"))
    expect(progress).to_be_visible()
    figure = page.locator(".js-plotly-plot").first
    expect(figure).to_contain_text(BAND)

    figure.evaluate("figure => { figure.dataset.mark = 'still the same' }")
    said = progress.inner_text()
    expect(progress).not_to_have_text(said)
    expect(figure).to_have_attribute(
        "data-mark", "still the same"
    )  # a new one at each tick would lose zoom and camera

    page.reload()
    expect(progress).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_contain_text(BAND)
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
    figure = page.locator(".js-plotly-plot").first
    expect(figure).to_contain_text(BAND)
    ready = figure.evaluate("figure => figure._fullData.find((one) => one.name === 'best found').x.length")
    page.get_by_role("button", name="Go on").click()
    progress = page.get_by_text(re.compile(rf"\d+ of {n} ready; k = \d+"))
    expect(progress).to_be_visible()
    assert int(progress.inner_text().split()[0]) >= min(2, ready), "it goes on where it stopped"
    page.get_by_role("button", name="Cancel").click()


@pytest.mark.visit
def test_the_page_opens_with_a_curve_that_stays_until_the_run_has_its_own(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits&effort=thorough")
    figure = page.locator(".js-plotly-plot").first
    expect(figure).to_contain_text("preview")
    expect(figure).to_contain_text(BAND)
    expect(page.get_by_role("heading", name=ANSWER)).to_be_visible()
    assert "run=" not in page.url and "w=" not in page.url
    assert figure.evaluate("figure => figure._fullLayout.xaxis.minallowed") > -1, (
        "nobody can move the axis to k = -26"
    )
    page.get_by_role("button", name=re.compile(r"Run \d+ problems")).click()
    expect(page.get_by_text(re.compile(r"\d+ of \d+ ready"))).not_to_have_count(0)
    expect(figure.locator(".legendtext", has_text="preview")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
