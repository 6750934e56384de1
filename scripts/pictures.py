"""Write docs/pictures: screenshots of every page of the running app in a real browser, on three screens.

    python -m scripts.pictures
    python -m scripts.pictures home learn-phone

The first line makes all of them, the second those that it names. Needs the test requirements and a chromium.
Every picture shows data that are shipped with the project. Samples whose originals cannot be shipped are left
out.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page

from benchmarks.served import PAGES, opened, serving, with_present

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SCREENS = {
    "": ({"width": 1440, "height": 900}, False),
    "-present": ({"width": 1280, "height": 720}, False),
    "-phone": ({"width": 390, "height": 844}, True),
}
"""Screens that pictures are taken of: ending of the file name -> size in pixels, is it a phone."""
COLOURS = 256
LIMIT = 600_000  # milliseconds
FIGURE = "[data-testid=stMain] .js-plotly-plot .main-svg"


COMING = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  const said = document.body.innerText;
  return app?.dataset.testScriptState === 'notRunning' && app.dataset.testConnectionState !== 'CONNECTING' &&
    !document.querySelector('[data-testid=stSkeleton]') && !/CONNECTING|Connection error/.test(said) &&
    !/is on its way|Solving \\d/.test(said);
}"""
CARDS = """() => [...document.querySelectorAll("[class*=st-key-card_] img")].every(
  (image) => !atob(image.src.split(",")[1]).includes("<rect"))"""


def swept(page: Page) -> None:
    """Start a sweep, and wait for its end."""
    page.get_by_role("button", name="Run ").first.click()
    page.get_by_role("button", name="Everything of this").first.wait_for(timeout=LIMIT)
    page.wait_for_timeout(2000)
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, 0)")


def seen(page: Page) -> None:
    """Wait until answer and pictures of samples are there, nothing is being drawn, and the page is
    connected.
    """
    page.wait_for_function(COMING, timeout=LIMIT)
    page.wait_for_function(CARDS, timeout=LIMIT)
    page.wait_for_timeout(2500)
    page.wait_for_function(COMING, timeout=LIMIT)
    page.wait_for_function(CARDS, timeout=LIMIT)


PREPARED: dict[str, Callable[[Page], None]] = {"sweep": swept}
"""Actions on a page before its picture is taken. The sweep starts a run, to show a finished one."""


def small(png: bytes) -> bytes:
    """Return the same picture in few colours, in a fraction of the bytes."""
    out = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(
        COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE
    ).save(out, "PNG", optimize=True)
    return out.getvalue()


def returning(browser: Browser, url: str) -> Any:
    """Return what the browser of a visitor remembers who has run a sweep, for the page Runs."""
    context = browser.new_context(viewport=SCREENS[""][0])
    page = context.new_page()
    page.goto(f"{url}/{PAGES['sweep']}", timeout=LIMIT)
    swept(page)
    remembered = context.storage_state()
    context.close()
    return remembered


def taken(context: BrowserContext, address: str, prepare: Callable[[Page], None]) -> bytes:
    """Return the first screen of a page."""
    page = context.new_page()
    page.goto(address, timeout=LIMIT)
    page.wait_for_selector("[data-testid=stMain] h1", timeout=LIMIT)
    page.wait_for_timeout(4000)
    prepare(page)
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)
    content = small(page.screenshot())
    page.close()
    return content


def main() -> None:
    wanted = set(sys.argv[1:])
    FOLDER.mkdir(exist_ok=True)
    with opened() as browser, serving() as url:
        remembered = None
        for ending, (size, phone) in SCREENS.items():
            for name, path in PAGES.items():
                if wanted and name + ending not in wanted:
                    continue
                if name == "runs" and remembered is None:
                    remembered = returning(browser, url)
                context = browser.new_context(
                    viewport=size,
                    color_scheme="light",
                    has_touch=phone,
                    is_mobile=phone,
                    storage_state=remembered if name == "runs" else None,
                )
                address = with_present(path) if ending == "-present" else path
                content = taken(context, f"{url}/{address}", PREPARED.get(name, seen) if not ending else seen)
                (FOLDER / f"{name}{ending}.png").write_bytes(content)
                sys.stdout.write(f"{name}{ending}.png: {len(content):,} bytes\n")
                sys.stdout.flush()
                context.close()


if __name__ == "__main__":
    main()
