"""Count lost clicks on Run: ``python -m benchmarks.visits [--visits N] [--page NAME]``.

Visits click as early as possible, and at every other bad moment. Each visit has a browser context of its own,
so a new session. It opens a page that starts runs and clicks its button by one of the `HANDS`. A click is
lost when the address does not name the run in time. A lost click is printed with the browser's record of it.
The server restarts every hundred visits, because visitors also meet its first seconds, while workers start.

    --hand NAME      one way of clicking only
    --latency MS     network latency of the browser
    --busy N         number of processes that keep a processor busy

Needs the test requirements and a chromium. The last line has the figures. The exit status is 1 when a click
was lost.
"""

import argparse
import contextlib
import multiprocessing
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Page
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.served import opened, serving
from benchmarks.speed import say

# Address, the name of the run in it, and a field that can be typed into; small problems, whose answer is
# there at once.
PAGES = {
    "sweep": ("sweep?sample=digits&from=2&to=4&step=1", "run", "to"),
    "parts": ("components?sample=cbcl&r=2&size=5&by=cone&proof=none", "components", "Number of parts"),
    "topics": ("components?sample=bow-kos&r=2&size=5&by=cone&proof=none", "components", "Number of topics"),
}
BUTTON = re.compile(r"^(play_arrow )?(Run|Find|Compare) .*(problem|part|topic|method)")
EACH_SERVER = 100  # visits
SAID_EVERY = 50
LIMIT = 20_000  # milliseconds until a click counts as lost
LATEST = 1.5  # seconds between the button and a late click
# Clicks the moment the button is in the document; and keeps what the browser saw of every click.
WATCH = """
window.seen = [];
for (const kind of ["pointerdown", "pointerup", "click"])
  addEventListener(kind, ({ target }) =>
    seen.push([Math.round(performance.now()), kind, target.closest("button")?.innerText ?? target.tagName]),
    true);
"""
AT_ONCE = """
new MutationObserver((_, observer) => {
  const button = document.querySelector("[data-testid=stMain] button[data-testid=stBaseButton-primary]");
  if (button && !button.disabled) { observer.disconnect(); button.click(); }
}).observe(document, { childList: true, subtree: true, attributes: true });
"""


def at_once(page: Page, field: str, wait: float) -> None:
    """Click from inside the page, in the moment in which the button is drawn."""


def mouse(page: Page, field: str, wait: float) -> None:
    """Click with the mouse as soon as the button stands still."""
    button(page).click()


def late(page: Page, field: str, wait: float) -> None:
    """Click with the mouse some time after the button is drawn."""
    button(page).wait_for()
    page.wait_for_timeout(1000 * wait)
    button(page).click()


def rerun(page: Page, field: str, wait: float) -> None:
    """Click while the page is drawn again after another click."""
    page.get_by_text("of any sign", exact=True).click()
    page.wait_for_timeout(200 * wait)
    button(page).click()


def typed(page: Page, field: str, wait: float) -> None:
    """Click out of a field with a typed text, which draws the page again."""
    box = page.get_by_label(field, exact=True)
    box.fill("3")
    page.wait_for_timeout(200 * wait)
    button(page).click()


def hasty(page: Page, field: str, wait: float) -> None:
    """Click, and then click something else, so that the page is drawn again before its button is reached."""
    other = page.get_by_text("of any sign", exact=True).element_handle()
    button(page).evaluate(
        "(button, [other, gap]) => { button.click(); setTimeout(() => other.click(), gap); }",
        [other, 20 + 60 * wait],
    )


def twice(page: Page, field: str, wait: float) -> None:
    """Double-click."""
    button(page).dblclick()


HANDS = {hand.__name__: hand for hand in (at_once, mouse, late, rerun, typed, hasty, twice)}


def button(page: Page):
    return page.get_by_role("button", name=BUTTON)


def visit(
    browser: Browser, url: str, path: str, run: str, field: str, hand, latency: int, rng: random.Random
) -> list | None:
    """Make one visit; return None when the click came through, else the record of the browser."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.add_init_script(WATCH + (AT_ONCE if hand is at_once else ""))
    if latency:
        page.context.new_cdp_session(page).send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1},
        )
    try:
        page.goto(f"{url}/{path}", wait_until="commit")
        hand(page, field, LATEST * rng.random())
        page.wait_for_url(
            lambda address: run in parse_qs(urlsplit(address).query), timeout=LIMIT, wait_until="commit"
        )
    except NotInTime as error:
        return [str(error).splitlines()[0], page.url, page.evaluate("seen"), button(page).all_inner_texts()]
    finally:
        context.close()
    return None


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Run processes that only keep a processor busy."""
    spinning = [multiprocessing.get_context("spawn").Process(target=_spin, daemon=True) for _ in range(count)]
    for each in spinning:
        each.start()
    try:
        yield
    finally:
        for each in spinning:
            each.kill()


def _spin() -> None:
    while True:
        pass


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visits", type=int, default=500)
    parser.add_argument("--page", choices=PAGES)
    parser.add_argument("--hand", choices=HANDS)
    parser.add_argument("--latency", type=int, default=0)
    parser.add_argument("--busy", type=int, default=0)
    asked = parser.parse_args(arguments)
    pages, hands = [asked.page] if asked.page else list(PAGES), [asked.hand] if asked.hand else list(HANDS)
    rng, made, lost, started = random.Random(0), Counter(), Counter(), time.perf_counter()
    with busy(asked.busy), opened() as browser:
        for first in range(0, asked.visits, EACH_SERVER):
            with serving() as url:
                for i in range(first, min(first + EACH_SERVER, asked.visits)):
                    name, hand = pages[i % len(pages)], hands[i // len(pages) % len(hands)]
                    saw = visit(browser, url, *PAGES[name], HANDS[hand], asked.latency, rng)
                    made[hand] += 1
                    if saw is not None:
                        lost[hand] += 1
                        say(f"visit {i + 1}, {name}, {hand}: lost", *saw)
                    if not (i + 1) % SAID_EVERY:
                        say(
                            f"{i + 1} visits after {time.perf_counter() - started:.0f} s, {lost.total()} "
                            "clicks lost"
                        )
    say(", ".join(f"{hand} {lost[hand]} of {made[hand]}" for hand in made))
    say(f"{made.total()} visits in {time.perf_counter() - started:.0f} s, {lost.total()} clicks lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
