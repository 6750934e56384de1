"""Write docs/pictures: first screens of the running app in a real browser, those that the documents show.

    python -m scripts.pictures
    python -m scripts.pictures home learn

The first line makes all of them, the second those that it names. Needs the test requirements and a chromium.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from benchmarks.served import PAGES, opened, serving

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SHOWN = ("home", "sweep", "parts", "topics", "learn", "papers")
SCREEN = {"width": 1440, "height": 900}
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


def sweep(page: Page) -> None:
    """Start a sweep, and wait for its end."""
    page.locator("summary").filter(has_text="· change").click()
    page.get_by_role("button", name="Compute ").first.click()
    page.locator("summary").filter(has_text="The proof").wait_for(timeout=LIMIT)


def swept(page: Page) -> None:
    """Run a sweep, and look at the top of the page."""
    sweep(page)
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


def small(png: bytes) -> bytes:
    """Return the same picture in few colours, in a fraction of the bytes."""
    out = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(
        COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE
    ).save(out, "PNG", optimize=True)
    return out.getvalue()


def main(names: list[str]) -> None:
    with opened() as browser, serving() as url:
        for name in names or SHOWN:
            page = browser.new_context(viewport=SCREEN, color_scheme="light").new_page()
            page.goto(f"{url}/{PAGES[name]}", timeout=LIMIT)
            page.wait_for_selector("[data-testid=stMain] h1", timeout=LIMIT)
            page.wait_for_timeout(4000)
            (swept if name == "sweep" else seen)(page)
            page.mouse.move(0, 0)
            page.wait_for_timeout(1500)
            content = small(page.screenshot())
            (FOLDER / f"{name}.png").write_bytes(content)
            sys.stdout.write(f"{name}.png: {len(content):,} bytes\n")
            page.context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
