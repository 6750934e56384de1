"""Write docs/pictures/tour.webp: a short moving picture of the running app.

    python -m scripts.tour

Takes screenshots of the real pages while a slider moves, an angle is dragged, a proved band closes and a
search proves an answer optimal. Needs the test requirements and a chromium. Only data that are shipped with
the project are shown.
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Locator, Page, expect

from benchmarks.served import opened, serving
from nspca.dashboard.proof.optimal import PROVED

FILE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "tour.webp"
SCREEN = {"width": 1200, "height": 700}
SIZE = (840, 490)
"""Pixels of a frame, the same shape as the screen."""
BAND = 34
"""Pixels of the line of text below each frame."""
QUALITY = 80
"""Quality of the WebP pictures, 0 to 100."""
MOST_BYTES = 1_000_000
LIMIT = 600_000  # milliseconds
MAIN = "stMainBlockContainer"


Frame = tuple[bytes, str, int]
"""A screenshot (PNG), the sentence below it, and how long it stays, in milliseconds."""


def shot(page: Page, text: str, stays: int = 250) -> Frame:
    return page.screenshot(), text, stays


def opened_page(page: Page, address: str) -> None:
    """Open a page and wait for its title and its figures."""
    page.goto(address, timeout=LIMIT)
    page.wait_for_selector("[data-testid=stMain] h1", timeout=LIMIT)
    page.wait_for_timeout(3000)


def watched(page: Page, text: str, end: Locator) -> Iterator[Frame]:
    """Show a page until an element at the end of its work is there."""
    for _ in range(12):
        page.wait_for_timeout(700)
        yield shot(page, text)
        if end.is_visible():
            break
    end.wait_for(timeout=LIMIT)


def moved_slider(page: Page, url: str) -> Iterator[Frame]:
    """Move the number of pixels on Home, one step a frame."""
    text = "Move k: the component, what it explains and its proved limit follow at once."
    opened_page(page, f"{url}/?digit_k=4")
    yield shot(page, text, 1200)
    slider = page.get_by_role("slider").first
    slider.focus()
    for k in range(5, 17):
        slider.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^{k}:"), timeout=LIMIT)
        page.wait_for_timeout(900)
        yield shot(page, text)
    yield shot(page, text, 900)


def dragged_angle(page: Page, url: str) -> Iterator[Frame]:
    """Drag the angle of the spannogram across its curves."""
    text = "Drag the angle: few sets can be the best if the data had two main directions."
    opened_page(page, f"{url}/spannogram?sample=digits&k=10")
    canvas = page.locator(".nspca-spx canvas.curves").bounding_box()
    assert canvas is not None
    height = canvas["y"] + 80
    page.mouse.move(canvas["x"] + 0.2 * canvas["width"], height)
    page.mouse.down()
    for step in range(16):
        page.mouse.move(canvas["x"] + (0.2 + 0.035 * step) * canvas["width"], height, steps=3)
        page.wait_for_timeout(150)
        yield shot(page, text, 900 if step == 0 else 200)
    page.mouse.up()


def closing_band(page: Page, url: str) -> Iterator[Frame]:
    """Run a sweep over k, and show how the proved band closes."""
    text = "Run a sweep: the band between what is found and what is proved closes for every k."
    opened_page(page, f"{url}/sweep?sample=digits")
    yield shot(page, text, 1500)
    page.locator("summary").filter(has_text="· change").click()
    page.get_by_role("button", name=re.compile("^Compute ")).first.click()
    yield from watched(page, text, page.locator("summary").filter(has_text="The proof").first)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    page.wait_for_timeout(1500)
    yield shot(page, text, 2000)


def proved_optimal(page: Page, url: str) -> Iterator[Frame]:
    """Open an answer, and follow the line below it until nothing better exists."""
    text = "The line below the answer rises by itself, until it is proved that nothing better exists."
    opened_page(page, f"{url}/sweep?sample=digits&from=9&to=9&step=1&signed=1")
    yield from watched(page, text, page.get_by_text(PROVED).first)
    page.wait_for_timeout(1000)
    yield shot(page, text, 3500)


def drawn(png: bytes, text: str) -> Image.Image:
    """Return a screenshot with its sentence below."""
    picture = Image.new("RGB", (SIZE[0], SIZE[1] + BAND), "#0b6e8a")
    shown = Image.open(io.BytesIO(png)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    picture.paste(shown, (0, 0))
    font = ImageFont.load_default(17)
    ImageDraw.Draw(picture).text((14, SIZE[1] + BAND / 2), text, "white", font, anchor="lm")
    return picture


def animated(frames: list[Frame]) -> bytes:
    """Return the frames as one WebP that begins anew after its end; equal neighbours become one frame."""
    pictures: list[Image.Image] = []
    stays: list[int] = []
    for png, text, long in frames:
        picture = drawn(png, text)
        if pictures and picture.tobytes() == pictures[-1].tobytes():
            stays[-1] += long
        else:
            pictures.append(picture)
            stays.append(long)
    out = io.BytesIO()
    more = {"quality": QUALITY, "method": 4, "loop": 0, "duration": stays}
    pictures[0].save(out, "WEBP", save_all=True, append_images=pictures[1:], **more)
    return out.getvalue()


def main() -> int:
    frames: list[Frame] = []
    with opened() as browser, serving() as url:
        page = browser.new_context(viewport=SCREEN, color_scheme="light").new_page()
        page.set_default_timeout(LIMIT)
        for scene in (moved_slider, dragged_angle, closing_band, proved_optimal):
            frames.extend(scene(page, url))
    content = animated(frames)
    if len(content) > MOST_BYTES:
        sys.stderr.write(f"{len(content):,} bytes are more than {MOST_BYTES:,}: take fewer frames.\n")
        return 1
    FILE.write_bytes(content)
    sys.stdout.write(f"{FILE.name}: {len(frames)} frames, {len(content):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
