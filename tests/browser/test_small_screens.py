"""Every page on a phone and on a small screen: nothing sticks out, nothing fails in the console."""

import contextlib

import pytest
from playwright.sync_api import TimeoutError, expect

from nspca.dashboard.app.frame import PAGES

# Addresses that Streamlit requests below the folder of every page, where they do not exist.
PROBES = ("/_stcore/health", "/_stcore/host-config")
# Finds elements that reach over the right edge, outside every part of the page that can be scrolled. The
# invisible input of a slider, which is for the keyboard and screen readers, does not count.
OUTSIDE = """() => {
  const held = (element) => {
    for (let part = element.parentElement; part; part = part.parentElement) {
      if (part.getBoundingClientRect().right <= innerWidth + 1 && ["auto",
      "scroll"].includes(getComputedStyle(part).overflowX)) {
        return part.dataset.testid !== "stMain";
      }
    }
    return false;
  };
  return [...document.querySelectorAll("[data-testid=stMain] *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.right > innerWidth + 1 && !element.closest("svg") &&
    element.checkVisibility() && !element.matches("input[type=range]") && !held(element);
  }).map((element) => element.outerHTML.slice(0, 200));
}"""
FITS = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollWidth - main.clientWidth <= 1;
}"""
LARGE, PHONE = {"width": 1024, "height": 844}, {"width": 390, "height": 844}
IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


@pytest.mark.visit
def test_every_page_fits(page, app_url):
    said, failed = [], []
    page.on("console", lambda line: said.append(line) if line.type == "error" else None)
    page.on("pageerror", lambda error: failed.append(str(error)))
    for path, title, _ in PAGES:
        page.set_viewport_size(LARGE)
        page.goto(f"{app_url}/{'' if path == 'app.py' else title.lower()}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_function(IDLE)
        for size in (LARGE, PHONE):
            page.set_viewport_size(size)
            with contextlib.suppress(TimeoutError):  # figures and tables follow the width a little later
                page.wait_for_function(f"({OUTSIDE})().length === 0")
                page.wait_for_function(FITS)
            assert page.evaluate(OUTSIDE) == [], (title, size)
            assert (
                page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") <= 1
            ), (title, size)
            if title == "Sweep":
                form, picture = (
                    page.locator(f".st-key-{key}").bounding_box()["y"] for key in ("form", "picture")
                )
                assert picture < form, "the answer comes first"
    ours = [line.text for line in said if not line.location["url"].endswith(PROBES)]
    assert ours == [] and failed == []
