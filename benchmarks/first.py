"""Measure the first impressions of a visitor: ``python -m benchmarks.first [cold] [warm] [own]``.

    cold   from a clean clone and an empty environment to the first picture, by `make app`
    warm   the first picture of every page on a server that others have used
    own    from the upload of a table of one's own to the first proved answer about it

Prints a row of a table for each, with the seconds that were asked for. A picture counts when it is drawn. A
stored picture that a live one replaces counts too. Every visit has a browser context of its own, so nothing
is in its cache. Needs the test requirements, a chromium and git, and for `cold` a package index. Run it on an
idle machine. The exit code is 1 when a row takes longer than asked.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser

from benchmarks.pages import FIGURE, LIMIT, REPEATS, TITLE, visit
from benchmarks.served import PAGES, free_port, opened, running, serving
from benchmarks.speed import say

ROOT = Path(__file__).resolve().parents[1]
MAIN = "[data-testid=stMain]"
PICTURE = f"{FIGURE}, {MAIN} img, {MAIN} canvas[aria-label]"
"""What counts as a picture: traces of a figure, an image, or a canvas that is drawn and named."""
WITHOUT = ("runs", "join")
"""Pages that show a new visitor no picture: their title is what counts."""
COLD, WARM, OWN = 60.0, 2.0, 10.0
"""Seconds that are asked for."""
SAMPLES, FEATURES, GROUP = 200, 30, 6
"""Size of the visitor's own table, and how many of its features vary together."""
PROVED = re.compile(r"No (single )?.*features?.* captures? more")

Row = tuple[str, float, float | None]
"""What was measured, its seconds, and how many were asked for."""


def cold(browser: Browser) -> Iterator[Row]:
    """Yield the seconds of `make app` in a clean clone until it serves, and until the first picture."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NSPCA_", "PYTHON"))}
    kept.pop("VIRTUAL_ENV", None)
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, clone = Path(folder, "home"), Path(folder, "nspca")
        environment = kept | {"NSPCA_HOME": str(home), "PIP_NO_CACHE_DIR": "1"}
        started = time.perf_counter()
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        with running(["make", "app", f"PORT={port}"], port, environment, clone) as url:
            yield "cold: clean clone, until `make app` serves", time.perf_counter() - started, None
            visit(browser, url, PICTURE)
            yield "cold: clean clone, until the first picture", time.perf_counter() - started, COLD


def warm(browser: Browser) -> Iterator[Row]:
    """Yield the seconds until the first picture of each page, the median of `REPEATS` visits."""
    with serving() as url:
        for name, path in PAGES.items():
            picture = TITLE if name in WITHOUT else PICTURE
            visit(browser, f"{url}/{path}", picture)
            seconds = [visit(browser, f"{url}/{path}", picture)[1] for _ in range(REPEATS)]
            yield f"warm: {name}", statistics.median(seconds), WARM


def own(browser: Browser) -> Iterator[Row]:
    """Yield the seconds from the upload of a CSV to the first proved answer, the median of `REPEATS`."""
    with serving() as url:
        visit(browser, f"{url}/data?source=upload", TITLE)
        seconds = [_uploaded(browser, url, seed) for seed in range(REPEATS)]
        size = f"{SAMPLES} x {FEATURES}"
        yield f"own: upload of a CSV ({size}) to the first proved answer", statistics.median(seconds), OWN


def _uploaded(browser: Browser, url: str, seed: int) -> float:
    """Return the seconds from the upload of a table to the sentence with its proved limit."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
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


def table(seed: int) -> bytes:
    """Return a CSV of random numbers, in which some features vary together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(SAMPLES, FEATURES))
    X[:, :GROUP] += 1.5 * rng.normal(size=(SAMPLES, 1))
    return pd.DataFrame(X, columns=[f"f{j + 1}" for j in range(FEATURES)]).to_csv(index=False).encode()


PARTS: dict[str, Callable[[Browser], Iterator[Row]]] = {each.__name__: each for each in (cold, warm, own)}


def main(names: list[str]) -> int:
    late = 0
    load = os.getloadavg()[0]
    say(f"Load at the start: {load:.1f}")
    say("\n| what | seconds | asked |\n|---|---|---|")
    with opened() as browser:
        for name in names or PARTS:
            for what, seconds, asked in PARTS[name](browser):
                late += asked is not None and seconds > asked
                say(f"| {what} | {seconds:.1f} | {'' if asked is None else f'{asked:.0f}'} |")
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
