"""Write docs/pictures: screenshots of the running app in a real browser, for README.md and docs/.

    python -m scripts.pictures

Needs the test requirements and a chromium. Every picture shows digits or pitprops. Samples whose originals
cannot be shipped are left out.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from benchmarks.served import opened, serving

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SIZE = {"width": 1280, "height": 860}
COLOURS = 128
LIMIT = 180_000  # milliseconds
FIGURE = "[data-testid=stMain] .js-plotly-plot .main-svg"


def swept(page: Page) -> None:
    """A finished sweep."""
    page.get_by_role("button", name="Run ").first.click()
    page.get_by_text("The proof", exact=True).first.wait_for(timeout=LIMIT)
    page.wait_for_timeout(2000)
    page.locator(FIGURE).first.scroll_into_view_if_needed()


def answered(page: Page) -> None:
    """What is printed beside what was computed."""
    page.get_by_role("heading", name="Figure 4").evaluate("title => title.scrollIntoView()")


def seen(page: Page) -> None:
    """As it opens."""


PICTURES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "home": ("", seen),
    "sweep": ("sweep?sample=digits", swept),
    "parts": ("parts?pictures=digits", seen),
    "learn": ("learn?screen=3&guess=20", seen),
    "papers": ("papers?item=asteris2014-figure-4", answered),
}


def small(png: bytes) -> bytes:
    """The same picture in few colours, in a fraction of the bytes."""
    out = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        out, "PNG", optimize=True
    )
    return out.getvalue()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with opened() as browser, serving() as url:
        for name, (path, prepare) in PICTURES.items():
            page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
            page.goto(f"{url}/{path}", timeout=LIMIT)
            page.wait_for_selector("[data-testid=stMain] :is(.js-plotly-plot .main-svg, svg)", timeout=LIMIT)
            page.wait_for_timeout(6000)
            prepare(page)
            page.wait_for_timeout(1500)
            content = small(page.screenshot())
            (FOLDER / f"{name}.png").write_bytes(content)
            sys.stdout.write(f"{name}.png: {len(content):,} bytes\n")
            page.context.close()


if __name__ == "__main__":
    main()
