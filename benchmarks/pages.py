"""Measure the waiting times of a visitor in a real browser: ``python -m benchmarks.pages``.

Measures the first paint of every page on a fresh server and on a warm one, page switches by the menu, and a
slider. A page is painted when its title is visible, and answers when its first figure is drawn. Each row has
a browser context of its own, so a new session. Warm rows are the median of `REPEATS`. Needs the test
requirements and a chromium. Run it on an idle machine.
"""

import statistics
import time
from collections.abc import Callable

from playwright.sync_api import Browser, Page

from benchmarks.served import opened, serving
from benchmarks.shared import say

REPEATS = 3
LIMIT = 180_000  # milliseconds
TITLE = "[data-testid=stMain] h1"
FIGURE = "[data-testid=stMain] .js-plotly-plot .trace, [data-testid=stMain] .js-plotly-plot .hm"
# Address, and what shows that the page answers; the sweep page with its curve and the certified band.
PAGES = {
    "home, stored": ("", ".nspca-poster img"),
    "home": ("", FIGURE),
    "data": ("data", "[data-testid=stMain] img, [data-testid=stMain] .js-plotly-plot"),
    "spannogram": (
        "spannogram?sample=digits",
        "[data-testid=stMain] svg, [data-testid=stMain] .js-plotly-plot",
    ),
    "sweep, digits": ("sweep?sample=digits", FIGURE),
    "sweep, LRS": ("sweep?sample=lrs", FIGURE),
    "sweep, CBCL": ("sweep?sample=cbcl", FIGURE),
    "parts": ("components?sample=orl-faces", FIGURE),
    "topics": ("components?sample=state-of-the-union", FIGURE),
    "runs": ("runs", TITLE),
    "learn": ("learn", "[data-testid=stMain] svg, [data-testid=stMain] .js-plotly-plot"),
}
COLUMNS = "{:<16} {:>14} {:>14} {:>14} {:>14}"


def visit(browser: Browser, url: str, answer: str) -> tuple[float, float]:
    """Return the seconds until the title and until the answer of a page, for a first visit."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        started = time.perf_counter()
        page.goto(url, wait_until="commit", timeout=LIMIT)
        page.wait_for_selector(TITLE, timeout=LIMIT)
        title = time.perf_counter() - started
        page.wait_for_selector(answer, state="attached", timeout=LIMIT)
        return title, time.perf_counter() - started
    finally:
        context.close()


def switch(page: Page, label: str) -> float:
    """Return the seconds from a click in the menu to the title of another page."""
    before = page.locator(TITLE).first.inner_text()
    started = time.perf_counter()
    page.get_by_test_id("stSidebar").get_by_role("link", name=label).click()
    page.wait_for_function(
        "([title, before]) => document.querySelector(title)?.innerText !== before",
        arg=[TITLE, before],
        timeout=LIMIT,
    )
    return time.perf_counter() - started


def slide(page: Page) -> float:
    """Return the seconds from a key on the slider of the home page to the sentence about the component."""
    sentence = page.locator("[data-testid=stMain] h2").first
    before = sentence.inner_text()
    started = time.perf_counter()
    page.get_by_role("slider").first.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('[data-testid=stMain] h2').innerText !== before",
        arg=before,
        timeout=LIMIT,
    )
    return time.perf_counter() - started


def median(measure: Callable[[], float]) -> str:
    """Return the median of `REPEATS` measured times, in words."""
    return f"{statistics.median(measure() for _ in range(REPEATS)):.2f} s"


def main() -> None:
    with opened() as browser:
        say(COLUMNS.format("page", "fresh: title", "answer", "warm: title", "answer"))
        for name, (path, answer) in PAGES.items():
            with serving() as url:
                first = visit(browser, f"{url}/{path}", answer)
                warm = [visit(browser, f"{url}/{path}", answer) for _ in range(REPEATS)]
            seconds = (*first, *(statistics.median(each) for each in zip(*warm, strict=True)))
            say(COLUMNS.format(name, *(f"{each:.2f} s" for each in seconds)))
        with serving() as url:
            visit(browser, url, FIGURE)
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(url)
            page.wait_for_selector(FIGURE, state="attached", timeout=LIMIT)
            say(f"slider of the home page: {median(lambda: slide(page))}")
            for label in ("Data", "Sweep", "Runs", "Home"):
                say(f"menu, to {label}: {switch(page, label):.2f} s")


if __name__ == "__main__":
    main()
