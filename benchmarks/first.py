"""Measure the waiting times of a visitor: ``python -m benchmarks.first [cold] [warm] [own] [moves]``.

    cold   from a clean clone and an empty environment to the first picture, by `make app`
    warm   the first picture of every page on a server that others have used
    own    from the upload of a table of one's own to the first proved answer about it
    moves  a slider of Home to its sentence, and the menu to the title of another page

Prints a row of a table for each, with the seconds that were asked for. A picture is whatever is drawn: the
bar with the found and the proved share, an image, a figure, and a stored picture that a live one replaces.
The seconds until the first figure of Plotly or the first canvas stand beside it. A page is opened in a
browser that has been there, and in one that has nothing in its cache. Needs the test requirements, a chromium
and git, and for `cold` a package index. Run it on an idle machine. docs/results.md has the slowest rows. The
exit code is 1 when a first picture takes longer than asked.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, BrowserContext, Page

from benchmarks.served import PAGES, free_port, kept, opened, running, serving
from benchmarks.shared import say

ROOT = Path(__file__).resolve().parents[1]
HEAD = "| what | asked | seconds | with a figure | in a new browser |\n|---|---|---|---|---|"
REPEATS = 3
LIMIT = 180_000  # milliseconds
MAIN = "[data-testid=stMain]"
TITLE = f"{MAIN} h1"
FIGURE = f"{MAIN} .js-plotly-plot .trace, {MAIN} .js-plotly-plot .hm"
LIVE = f"{FIGURE}, {MAIN} canvas[aria-label]"
"""Selector of figures: traces of Plotly, or a canvas that is drawn and named."""
PICTURE = f"{LIVE}, {MAIN} [role=img], {MAIN} img, {MAIN} .st-key-pressed_lists *"
"""Selector of first pictures: figures, images, bars of the found and the proved share, lists of words."""
WITHOUT = ("runs", "join")
"""Pages that show a new visitor no picture: their title is what counts."""
FOLDED = ("data", "topics")
"""Pages without an unfolded figure: an image or a list of words is their picture."""
COLD, WARM, OWN = 60.0, 2.0, 10.0
"""Seconds that are asked for."""
SAMPLES, FEATURES, GROUP = 200, 30, 6
"""Size of the visitor's own table, and how many of its features vary together."""
PROVED = re.compile(r"\bproved\b")

CALM = 1000  # milliseconds in which a page finishes what it has begun, before the next one is opened
SCREEN = {"width": 1280, "height": 900}


@dataclass(frozen=True)
class Row:
    """One row of the table: seconds, those asked for, those until a figure, and those in a new browser."""

    what: str
    seconds: float
    asked: float | None = None
    figure: float | None = None
    new: float | None = None

    @property
    def markdown(self) -> str:
        """Return the row of a table."""
        cells = _cell(self.asked, 0), f"{self.seconds:.1f}", _cell(self.figure, 1), _cell(self.new, 1)
        return f"| {self.what} | {' | '.join(cells)} |"


def _cell(seconds: float | None, digits: int) -> str:
    return "" if seconds is None else f"{seconds:.{digits}f}"


def cold(browser: Browser) -> Iterator[Row]:
    """Yield the seconds of `make app` in a clean clone until it serves, and until the first picture."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("NSPCA_", "PYTHON"))}
    plain.pop("VIRTUAL_ENV", None)
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, clone = Path(folder, "home"), Path(folder, "nspca")
        environment = plain | {"NSPCA_HOME": str(home), "PIP_NO_CACHE_DIR": "1"}
        started = time.perf_counter()
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        with running(["make", "app", f"PORT={port}"], port, environment, clone) as url:
            yield Row("clean clone, until `make app` serves", time.perf_counter() - started)
            visit(browser, url, PICTURE)
            yield Row("clean clone, until the first picture", time.perf_counter() - started, asked=COLD)


def warm(browser: Browser) -> Iterator[Row]:
    """Yield the seconds until the first picture of each page, the medians of `REPEATS` visits."""
    with serving() as url, kept(browser, viewport=SCREEN) as known:
        for name, path in PAGES.items():
            address = f"{url}/{path}"
            picture = TITLE if name in WITHOUT else PICTURE
            last = picture if name in (*WITHOUT, *FOLDED) else LIVE
            visit(browser, address, last)  # the server has the answer then
            new = [visit(browser, address, picture) for _ in range(REPEATS)]
            # A browser keeps a script compiled from the second visit on.
            timed = [_opened(known, address, picture, last) for _ in range(2 + REPEATS)][2:]
            first, figure = (statistics.median(times) for times in zip(*timed, strict=True))
            live = figure if last == LIVE else None
            yield Row(f"first picture of {name}", first, WARM, live, statistics.median(new))


def visit(browser: Browser, url: str, answer: str) -> float:
    """Return the seconds until the answer of a page is there, in a browser that has nothing in its cache."""
    context = browser.new_context(viewport=SCREEN)
    try:
        return _opened(context, url, answer, answer)[0]
    finally:
        context.close()


def _opened(context: BrowserContext, url: str, picture: str, last: str) -> tuple[float, float]:
    """Return the seconds until a first and a last part of a page are there, in a new tab of a browser."""
    page = context.new_page()
    started = time.perf_counter()
    page.goto(url, wait_until="commit", timeout=LIMIT)
    page.wait_for_selector(picture, state="attached", timeout=LIMIT)
    first = time.perf_counter() - started
    page.wait_for_selector(last, state="attached", timeout=LIMIT)
    seconds = time.perf_counter() - started
    page.wait_for_timeout(CALM)
    page.close()
    return first, seconds


def own(browser: Browser) -> Iterator[Row]:
    """Yield the seconds from the upload of a CSV to the first proved answer, the median of `REPEATS`."""
    with serving() as url:
        visit(browser, f"{url}/data?source=upload", TITLE)
        seconds = [_uploaded(browser, url, seed) for seed in range(REPEATS)]
        size = f"{SAMPLES} x {FEATURES}"
        what = f"upload of a CSV ({size}) to the first proved answer"
        yield Row(what, statistics.median(seconds), asked=OWN)


def _uploaded(browser: Browser, url: str, seed: int) -> float:
    """Return the seconds from the upload of a table to the sentence with its proved limit."""
    context = browser.new_context(viewport=SCREEN)
    context.set_default_timeout(LIMIT)
    try:
        page = context.new_page()
        page.goto(f"{url}/data?source=upload")
        upload = page.locator("input[type=file]").first
        upload.wait_for(state="attached")
        started = time.perf_counter()
        upload.set_input_files({"name": "own.csv", "mimeType": "text/csv", "buffer": table(seed)})
        page.get_by_role("link", name="how many features are enough").click()
        page.get_by_role("heading", name=PROVED).wait_for()
        return time.perf_counter() - started
    finally:
        context.close()


def moves(browser: Browser) -> Iterator[Row]:
    """Yield the seconds of the slider of Home, the median of `REPEATS`, and of the menu to each page."""
    with serving() as url:
        visit(browser, url, FIGURE)
        page = browser.new_context(viewport=SCREEN).new_page()
        page.goto(url)
        page.wait_for_selector(FIGURE, state="attached", timeout=LIMIT)
        slider = page.get_by_role("slider").first
        times = [_changed(page, f"{MAIN} h2", lambda: slider.press("ArrowRight")) for _ in range(REPEATS)]
        yield Row("slider of Home", statistics.median(times))
        for label in ("Data", "Sweep", "Runs", "Home"):
            link = page.get_by_test_id("stSidebar").get_by_role("link", name=label)
            yield Row(f"menu, to {label}", _changed(page, TITLE, link.click))


def _changed(page: Page, what: str, act: Callable[[], None]) -> float:
    """Return the seconds from an act of the visitor until the text of an element is another one."""
    before, started = page.locator(what).first.inner_text(), time.perf_counter()
    act()
    page.wait_for_function(
        "([what, before]) => (document.querySelector(what)?.innerText ?? before) !== before",
        arg=[what, before],
        timeout=LIMIT,
    )
    return time.perf_counter() - started


def table(seed: int) -> bytes:
    """Return a CSV of random numbers, in which some features vary together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(SAMPLES, FEATURES))
    X[:, :GROUP] += 1.5 * rng.normal(size=(SAMPLES, 1))
    return pd.DataFrame(X, columns=[f"f{j + 1}" for j in range(FEATURES)]).to_csv(index=False).encode()


PARTS: dict[str, Callable[[Browser], Iterator[Row]]] = {
    each.__name__: each for each in (cold, warm, own, moves)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all when none is named")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"parts must be among {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    say(f"Load of the machine at the start: {os.getloadavg()[0]:.1f}.\n\n{HEAD}")
    late = False
    with opened() as browser:
        for name in args.parts or PARTS:
            for row in PARTS[name](browser):
                say(row.markdown)
                late |= row.asked is not None and row.seconds > row.asked
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
