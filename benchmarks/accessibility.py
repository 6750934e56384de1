"""Check every page of the running app with axe-core: light, dark, on a phone, and in present mode.

    python -m benchmarks.accessibility [--all] [PAGE ...]

Prints for each page and screen how many rules of axe-core it breaks, by impact, and for each broken rule of
impact "serious" or "critical" the elements that break it. `--all` prints those of less impact as well. The
exit code is 1 when a serious or critical one is left. Needs the test requirements and a chromium.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from playwright.sync_api import Browser, Page

from benchmarks.served import PAGES, opened, serving, with_present

DESKTOP, PHONE, SLIDE = (
    {"width": 1440, "height": 900},
    {"width": 390, "height": 844},
    {"width": 1280, "height": 720},
)
SCREENS = {
    "light": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light", "is_mobile": True, "has_touch": True},
    "present": {"viewport": SLIDE, "color_scheme": "light"},
}
"""Screens that each page is checked on: name -> options of the browser's context."""
SEVERE = ("critical", "serious")
IMPACTS = (*SEVERE, "moderate", "minor")
LIMIT = 600_000  # milliseconds
QUIET = """() => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning"
  && !/answer is on its way|Solving \\d/.test(document.body.innerText)"""


@dataclass(frozen=True)
class Violation:
    """A rule of axe-core that a page breaks, and the elements that break it."""

    rule: str
    impact: str
    help: str
    elements: tuple[str, ...]


def violations(page: Page) -> list[Violation]:
    """Return the rules that the page shown breaks, the gravest first."""
    engine = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    page.evaluate(engine)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
    return sorted(
        (
            Violation(
                one["id"],
                one["impact"] or "minor",
                one["help"],
                tuple(node["html"][:200] for node in one["nodes"]),
            )
            for one in found
        ),
        key=lambda one: IMPACTS.index(one.impact),
    )


def checked(
    browser: Browser, url: str, screen: str, names: list[str]
) -> Iterator[tuple[str, list[Violation]]]:
    """Yield the name of each page and what it breaks on a screen."""
    context = browser.new_context(reduced_motion="reduce", **SCREENS[screen])
    for name in names:
        path = with_present(PAGES[name]) if screen == "present" else PAGES[name]
        page = context.new_page()
        page.goto(f"{url}/{path}", timeout=LIMIT)
        page.wait_for_selector("[data-testid=stMain] h1", timeout=LIMIT)
        page.wait_for_timeout(2000)
        page.wait_for_function(QUIET, timeout=LIMIT)
        yield name, violations(page)
        page.close()
    context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="all pages when none is named")
    parser.add_argument("--all", action="store_true", help="print every violation")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    with opened() as browser, serving() as url:
        for screen in SCREENS:
            for name, found in checked(browser, url, screen, args.pages or list(PAGES)):
                by_impact = Counter(one.impact for one in found)
                counts.update(by_impact)
                sys.stdout.write(
                    f"{name:12} {screen:8} " + ", ".join(f"{by_impact[i]} {i}" for i in IMPACTS) + "\n"
                )
                for one in found:
                    if args.all or one.impact in SEVERE:
                        sys.stdout.write(f"    {one.impact}: {one.rule}: {one.help}\n")
                        sys.stdout.writelines(f"        {element}\n" for element in one.elements[:4])
                sys.stdout.flush()
    sys.stdout.write(
        "all pages and screens: " + ", ".join(f"{counts[impact]} {impact}" for impact in IMPACTS) + "\n"
    )
    return int(any(counts[impact] for impact in SEVERE))


if __name__ == "__main__":
    sys.exit(main())
