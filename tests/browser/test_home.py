"""Home in a real browser."""

import re
from urllib.error import HTTPError

import pytest
from playwright.sync_api import expect

from tests.servers import DIRECT

ANSWER = "show in the main direction"


def test_the_first_page_answers_and_asks_nobody_else(page, app_url):
    asked, failed = set(), []
    page.on("request", lambda request: asked.add(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(app_url)
    expect(page.get_by_role("heading", name=ANSWER)).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    before = page.get_by_role("heading", name=ANSWER).inner_text()
    slider = page.get_by_role("slider")
    axis = "document.querySelector('.st-key-digits_curve .js-plotly-plot')?._fullLayout?.xaxis._length"
    page.wait_for_function(f"Math.abs(document.querySelector('.nspca-k').clientWidth - {axis}) < 2")
    slider.focus()
    slider.press("ArrowLeft")
    expect(page).to_have_url(f"{app_url}/?digit_k=7")
    expect(page.get_by_role("heading", name=ANSWER)).not_to_have_text(before)
    outside = {
        url for url in asked if not url.startswith((app_url, app_url.replace("http", "ws"), "data:", "blob:"))
    }
    assert not outside and not failed
    (plotly,) = {url for url in asked if "plotly" in url.rpartition("/")[2].lower()}
    kept = page.request.get(plotly).headers["cache-control"]
    assert "immutable" in kept, "5 MB that need no second transfer"
    absent = page.request.get(plotly.replace("plotly.min.js", "no.js"))
    assert "immutable" not in absent.headers.get("cache-control", "")


@pytest.mark.visit
def test_the_menu_leads_on_and_back(page, app_url):
    page.goto(f"{app_url}/?digit_k=5")
    expect(page.get_by_text("The coloured pixels are")).to_be_visible()
    page.get_by_role("link", name="Data", exact=True).click()
    expect(page.get_by_role("heading", name="Which data?", exact=True)).to_be_visible()
    page.get_by_role("link", name="Home", exact=True).click()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^5:"))


def test_a_sketch_is_seen_before_the_figures(page, app_url):
    """Until the browser has what draws figures, which is 5 MB, and no longer."""
    waiting = []

    def wait(route):
        waiting.append(route)

    page.route("**/plotly.min.js*", wait)
    page.goto(app_url)
    sketch = page.locator(".nspca-sketch")
    expect(sketch).to_be_visible()
    loaded = "[...document.querySelectorAll('.nspca-sketch img')].map(one => one.naturalWidth > 50)"
    page.wait_for_function(f"String({loaded}) === 'true,true'")
    drawn = sketch.locator("img")
    places = [drawn.nth(i).bounding_box() for i in range(2)]
    while not waiting:
        page.wait_for_timeout(50)
    for route in waiting:
        route.continue_()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(sketch).not_to_be_visible()
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .nsewdrag').length === 2")
    for at, name in zip(places, ("digits_image", "digits_curve"), strict=True):
        live = page.locator(f".st-key-{name} .nsewdrag").bounding_box()
        assert abs(live["y"] - at["y"]) < 25 and abs(live["x"] - at["x"]) < 25, "nothing jumps"


def test_the_server_says_what_a_browser_may_do(app_url):
    with DIRECT.open(app_url) as answer:
        said = answer.headers
    assert "frame-ancestors 'self'" in said["Content-Security-Policy"]
    assert (said["X-Content-Type-Options"], said["Referrer-Policy"]) == ("nosniff", "same-origin")
    with pytest.raises(HTTPError, match="404"):
        DIRECT.open(f"{app_url}/_stcore/metrics")
