"""Write docs/journeys: a teacher, a researcher and a student use the running app in a real browser.

    python -m scripts.journeys [name ...]

Each step is a click or a file as a visitor would give it, and a picture of the page afterwards. The
researcher's table is the sample `all-aml`.
"""

import io
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page

import nspca
from benchmarks.served import opened, serving
from scripts.pictures import FIGURE, LIMIT, small, sweep

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "journeys"
SIZE = {"width": 1280, "height": 860}
CALM = 2500  # milliseconds in which a figure settles

Snap = Callable[[str], None]


def teacher(page: Page, snap: Snap) -> None:
    """Ten minutes before a class: a guess, a sweep, its proof, a link for everybody."""
    snap("home")
    menu(page, "Learn", "Which direction varies most?")
    page.get_by_text("3", exact=True).last.click()
    page.get_by_role("heading", name="Why can the best few be found?").wait_for()
    snap("guess")
    menu(page, "Sweep", "How many features are enough?")
    run(page)
    snap("sweep")
    page.locator("summary").filter(has_text="The proof").click()
    page.get_by_role("button", name="Verify now").first.click()
    page.get_by_text("Checked", exact=False).first.wait_for()
    page.mouse.move(0, 0)  # away from the button, whose help covers what it stands on
    page.get_by_role("button", name="Verify now").first.scroll_into_view_if_needed()
    snap("proof")
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Make a link").click()
    page.get_by_test_id("stPopoverBody").get_by_text("Whoever has the link").wait_for()
    snap("share")


def spectra(page: Page, snap: Snap) -> None:
    """Home, then two clicks: the certified band of the coffee spectra."""
    menu(page, "Data", "Which data?")
    page.get_by_role("button", name="Coffee spectra").click()
    page.get_by_role("heading", name="Coffee spectra").wait_for()
    page.get_by_role("link", name="how many bands are enough").click()
    answer(page)
    snap("band")


def researcher(page: Page, snap: Snap) -> None:
    """A gene table with labels, as it comes: genes in rows, the diagnosis in the second line."""
    data = nspca.load_sample("all-aml")
    table = pd.DataFrame(
        np.asarray(data.X, float).T, index=data.feature_names, columns=list(data.sample_names)
    )
    labels = pd.DataFrame([list(data.labels)], index=["diagnosis"], columns=table.columns)
    buffer = io.BytesIO()
    pd.concat([labels, table]).to_csv(buffer)
    menu(page, "Data", "Which data?")
    page.get_by_text("Use your own file").click()
    content = {"name": "genes.csv", "mimeType": "text/csv", "buffer": buffer.getvalue()}
    page.locator("input[type=file]").set_input_files(content)
    page.get_by_role("heading", name="Open now: genes").wait_for()
    snap("read")
    page.get_by_role("link", name=re.compile("how many (genes|features) are enough")).click()
    answer(page)
    snap("preview")
    page.locator("summary").filter(has_text="· change").click()
    for label in ("k from", "to"):
        page.get_by_label(label, exact=True).fill("20")
        page.get_by_label(label, exact=True).press("Enter")
    run(page)
    page.locator("summary").filter(has_text="one by one").click()
    listed = page.get_by_role("button", name="Copy the list of")
    listed.evaluate("button => button.scrollIntoView({ block: 'center' })")
    snap("genes")


def student(page: Page, snap: Snap) -> None:
    """Faces: which parts they are made of."""
    menu(page, "Data", "Which data?")
    page.get_by_role("button", name="ORL faces").first.click()
    page.wait_for_timeout(CALM)
    snap("faces")
    menu(page, "Components", "Which parts are images made of?")
    page.get_by_role("heading", name="of the variance of all").wait_for()
    page.locator(FIGURE).first.wait_for()
    page.locator(FIGURE).first.evaluate("figure => figure.scrollIntoView({ block: 'center' })")
    snap("parts")


JOURNEYS = {each.__name__: each for each in (teacher, spectra, researcher, student)}


def menu(page: Page, label: str, title: str) -> None:
    """Open another page by the menu."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=label).click()
    page.get_by_role("heading", name=title, exact=True).wait_for()


def answer(page: Page) -> None:
    """Wait for the sentence with the answer, and move the mouse away from the figure."""
    page.get_by_role("heading", name="in the main direction").wait_for()
    page.mouse.move(0, 0)


def run(page: Page) -> None:
    """Run a sweep to its end."""
    sweep(page)
    answer(page)


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with opened() as browser, serving() as url:
        for name in names or JOURNEYS:
            page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
            page.set_default_timeout(LIMIT)
            page.goto(url)
            page.locator(FIGURE).first.wait_for()
            taken = itertools.count(1)

            def snap(what: str, page: Page = page, name: str = name, taken: Iterator[int] = taken) -> None:
                page.wait_for_timeout(CALM)
                file = FOLDER / f"{name}-{next(taken)}-{what}.png"
                file.write_bytes(small(page.screenshot()))
                sys.stdout.write(f"{file.name}\n")
                sys.stdout.flush()

            JOURNEYS[name](page, snap)
            page.context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
