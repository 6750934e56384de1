"""The main job in a real browser: choose, sweep, look, cancel, reload."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.folds import change_question, fold, unfold

ANSWER = "show in the main direction"
BAND = re.compile(r"the optimum is in here \(proved\)|the best: proved")
"""Legend of the region, or of the curve where no room is left."""


def chosen_k(page: Page):
    return page.get_by_role("slider", name="k, the number of")


def click_point(page: Page, k: int) -> None:
    """Click on the found value at k in the first figure."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    figure = page.locator(".js-plotly-plot").first
    place = """(div, k) => {
        const { xaxis, yaxis } = div._fullLayout;
        const found = div._fullData.find((one) => one.name === "best found");
        const value = found.y[[...found.x].indexOf(k)];
        return { x: xaxis._offset + xaxis.d2p(k), y: yaxis._offset + yaxis.d2p(value) };
    }"""
    figure.click(position=figure.evaluate(place, k))


def places(page: Page) -> list[list[float]]:
    """Return left, top and width of the bar, and of both figures."""
    seen = page.locator(".st-key-answer [data-testid=stHtml], .js-plotly-plot").filter(visible=True)
    of_one = "(one) => { const at = one.getBoundingClientRect(); return [at.x, at.y, at.width]; }"
    return seen.evaluate_all(f"all => all.map({of_one})")


@pytest.mark.visit
def test_from_the_first_page_to_a_component_and_back_after_a_reload(page, app_url):
    page.goto(app_url)
    page.get_by_role("link", name="Choose a sample").click()
    page.get_by_role("button", name="Coffee spectra").click()
    expect(page.get_by_role("heading", name="Coffee spectra")).to_be_visible()
    page.get_by_role("link", name="how many bands are enough").click()
    change_question(page)
    page.get_by_label("to", exact=True).fill("30")
    page.get_by_label("to", exact=True).press("Enter")
    page.get_by_label("step", exact=True).fill("5")
    page.get_by_label("step", exact=True).press("Enter")
    page.get_by_role("button", name=re.compile("^Compute ")).click()
    expect(fold(page, "The proof")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_contain_text(BAND)

    click_point(page, 6)
    expect(page).to_have_url(re.compile(r"[?&]k=6(&|$)"))
    expect(chosen_k(page)).to_have_attribute("aria-valuetext", re.compile("^6:"))
    expect(page.get_by_role("heading", name="6 bands")).to_be_visible()
    expect(page.locator(".js-plotly-plot").filter(has_text="mean spectrum")).to_be_visible()
    unfold(page, "one by one, and the samples")
    expect(page.locator(".js-plotly-plot").filter(has_text="score along the component")).to_be_visible()

    said = page.get_by_role("heading", name=ANSWER).inner_text()
    page.reload()
    expect(page.get_by_role("heading", name=ANSWER)).to_have_text(said)
    expect(chosen_k(page)).to_have_attribute("aria-valuetext", re.compile("^6:"))
    click_point(page, 26)
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
    page.get_by_role("button", name=re.compile("^Compute ")).click()
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
    expect(page.get_by_role("button", name="Go on", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_text("Cancelled. What was ready stays here.")).to_be_visible()
    figure = page.locator(".js-plotly-plot").first
    expect(figure).to_contain_text(BAND)
    ready = figure.evaluate("figure => figure._fullData.find((one) => one.name === 'best found').x.length")
    page.get_by_role("button", name="Go on", exact=True).click()
    progress = page.get_by_text(re.compile(rf"\d+ of {n} ready; k = \d+"))
    expect(progress).to_be_visible()
    assert int(progress.inner_text().split()[0]) >= min(2, ready), "it goes on where it stopped"
    page.get_by_role("button", name="Cancel").click()


def test_the_slider_shows_every_k_while_it_is_dragged_and_the_page_follows_when_it_is_let_go(page, app_url):
    page.goto(f"{app_url}/sweep?sample=digits")
    heading = page.get_by_role("heading", name=ANSWER)
    expect(heading).to_contain_text("best 10")
    line = "document.querySelector('.st-key-curve .js-plotly-plot')?.layout?.shapes?.[0].x0"
    page.wait_for_function(f"{line} === 10")
    figures = page.locator(".js-plotly-plot").filter(visible=True)
    expect(figures).to_have_count(2)  # that of the run at work is gone
    assert "run=" not in page.url and "w=" not in page.url, "nobody has asked"
    slider = chosen_k(page)
    plots = "[...document.querySelectorAll('.js-plotly-plot')]"
    pixels = f"JSON.stringify({plots}.find((one) => one.data?.[1]?.z)?.data[1].z)"
    page.wait_for_function(pixels)  # the picture comes after the curve
    axis = "document.querySelector('.st-key-curve .js-plotly-plot')?._fullLayout?.xaxis"
    page.wait_for_function(f"Math.abs(document.querySelector('.nspca-k')?.clientWidth - {axis}?._length) < 2")
    five, box = page.evaluate(f"{axis}.d2p(5)"), slider.bounding_box()
    before = page.evaluate(pixels)
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + five, box["y"] + box["height"] / 2, steps=5)
    expect(page.locator(".nspca-live h2")).to_contain_text("best 5")
    dragged = places(page)
    assert page.evaluate(line) == 5 and page.evaluate(pixels) != before
    assert "k=" not in page.url, "nothing was asked of the server yet"
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"[?&]k=5(&|$)"))
    expect(page.locator(".nspca-live")).to_have_count(0)
    expect(heading).to_contain_text("best 5")
    assert places(page) == dragged, "nothing moves when it is let go"
    slider.focus()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]k=6(&|$)"))
