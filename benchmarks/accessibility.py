"""Check every page of the running app with axe-core: light, dark, on a phone, and in present mode.

    python -m benchmarks.accessibility [--all] [PAGE ...]
    python -m benchmarks.accessibility --figures [PAGE ...]
    python -m benchmarks.accessibility --keyboard [PAGE ...]

The first prints for each page and screen how many rules of axe-core it breaks, by impact, and for each broken
rule of impact "serious" or "critical" the elements that break it. `--all` prints those of less impact as
well. `--figures` prints the text of every figure, folded parts unfolded, and names those without a text or
without a number in it. `--keyboard` goes through every page by the Tab key, and names the controls that it
does not reach. The exit code is 1 when something serious, a silent figure or such a control is left. Needs
the test requirements and a chromium.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

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
VIEWS = PAGES | {
    **{f"learn {screen}": f"learn?screen={screen}" for screen in (1, 2, 4, 5, 6)},
    **{
        f"spannogram {view}": f"spannogram?sample=digits&view={view}"
        for view in ("sphere", "support", "ranks")
    },
    **{f"data {sample}": f"data?sample={sample}" for sample in ("pitprops", "python-docs", "lrs")},
    **{f"sweep {sample}": f"sweep?sample={sample}" for sample in ("pitprops", "lrs", "python-docs")},
    **{f"parts {look}": f"components?sample=digits&look={look}" for look in ("many", "again", "methods")},
    **{
        f"papers {item}": f"papers?paper={item.partition('-')[0]}&item={item}"
        for item in (
            "asteris2014-figure-1",
            "asteris2014-figure-2",
            "asteris2015-figure-1",
            "asteris2015-table-1",
        )
    },
    **{f"papers {paper}": f"papers?paper={paper}" for paper in ("sigg2008", "zass2006", "exact")},
}
"""All pages, and views of them that have other figures and controls: name -> address."""
SEVERE = ("critical", "serious")
IMPACTS = (*SEVERE, "moderate", "minor")
LIMIT = 600_000  # milliseconds
QUIET = """() => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning"
  && !document.querySelector("[data-testid=stMain] [data-testid=stSkeleton]")
  && [...document.querySelectorAll(".nspca-figure")].every((one) => !one.checkVisibility() ||
    one.querySelector(".main-svg"))
  && !/is on its way|Solving \\d/.test(document.body.innerText)"""
READING = Path(__file__).with_suffix(".js").read_text("utf-8")
MOST_TABS = 400
"""Presses of Tab on one page, more than the longest page has controls."""


def violations(page: Page) -> list[dict[str, Any]]:
    """Return the rules of axe-core that the page shown breaks, the gravest first, as axe-core says them."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
    return sorted(found, key=lambda one: IMPACTS.index(one["impact"] or "minor"))


def shown(browser: Browser, url: str, screen: str, names: list[str]) -> Iterator[tuple[str, Page]]:
    """Yield the name of each page, and the page with its answer on a screen."""
    context = browser.new_context(reduced_motion="reduce", **SCREENS[screen])
    for name in names:
        path = with_present(VIEWS[name]) if screen == "present" else VIEWS[name]
        page = context.new_page()
        page.goto(f"{url}/{path}", timeout=LIMIT)
        page.wait_for_selector("[data-testid=stMain] h1", timeout=LIMIT)
        settle(page)
        yield name, page
        page.close()
    context.close()


def settle(page: Page) -> None:
    """Wait until the answer is there and nothing is being drawn."""
    page.wait_for_timeout(2000)
    page.wait_for_function(QUIET, timeout=LIMIT)


def unfold(page: Page) -> None:
    """Open every folded part of a page, and those inside."""
    for _ in range(3):
        folded = page.locator("[data-testid=stMain] details:not([open]) > summary")
        count = folded.evaluate_all("lines => lines.map((line) => line.click()).length")
        if not count:
            return
        settle(page)


def figures(page: Page) -> list[tuple[str, str]]:
    """Return what each figure of a page is made of, and the text that a screen reader reads."""
    page.evaluate(f"() => {{ {READING} }}")
    return [(kind.strip(), text) for kind, text in page.evaluate("nspcaReading.figures()")]


def unreached(page: Page) -> list[str]:
    """Return the controls of a page that the Tab key does not reach, going through it once."""
    page.evaluate(f"() => {{ {READING} }}")
    known = page.evaluate("nspcaReading.controls()")
    page.evaluate("document.activeElement?.blur()")
    reached = set()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        at = page.evaluate("nspcaReading.focused()")
        if at is None and reached:  # around once
            break
        reached.add(at)
    return [label for number, label in enumerate(known) if number not in reached]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="all pages when none is named")
    parser.add_argument("--all", action="store_true", help="print every violation")
    parser.add_argument("--figures", action="store_true", help="print the texts of the figures instead")
    parser.add_argument("--keyboard", action="store_true", help="print the controls without a key instead")
    args = parser.parse_args()
    with opened() as browser, serving() as url:
        if args.figures or args.keyboard:
            names = args.pages or list(VIEWS)
            return (_print_figures if args.figures else _print_unreached)(browser, url, names)
        return _print_violations(browser, url, args.pages or list(PAGES), args.all)


def _print_figures(browser: Browser, url: str, names: list[str]) -> int:
    count, silent = 0, 0
    for name, page in shown(browser, url, "light", names):
        unfold(page)
        for kind, text in figures(page):
            is_silent = not any(letter.isdigit() for letter in text)
            count, silent = count + 1, silent + is_silent
            sys.stdout.write(f"{name}: {'SILENT ' * is_silent}{kind}: {text}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{count} figures, {silent} without a text with a number\n")
    return int(silent > 0)


def _print_unreached(browser: Browser, url: str, names: list[str]) -> int:
    left = 0
    for name, page in shown(browser, url, "light", names):
        unfold(page)
        found = unreached(page)
        left += len(found)
        sys.stdout.write(f"{name}: {len(found)} controls are not reached\n")
        sys.stdout.writelines(f"    {label}\n" for label in found)
        sys.stdout.flush()
    return int(left > 0)


def _print_violations(browser: Browser, url: str, names: list[str], everything: bool) -> int:
    counts: Counter[str] = Counter()
    for screen in SCREENS:
        for name, page in shown(browser, url, screen, names):
            found = violations(page)
            by_impact = Counter(one["impact"] or "minor" for one in found)
            counts.update(by_impact)
            sys.stdout.write(
                f"{name:12} {screen:8} " + ", ".join(f"{by_impact[i]} {i}" for i in IMPACTS) + "\n"
            )
            for one in found:
                if everything or one["impact"] in SEVERE:
                    sys.stdout.write(f"    {one['impact']}: {one['id']}: {one['help']}\n")
                    sys.stdout.writelines(f"        {node['html'][:200]}\n" for node in one["nodes"][:4])
            sys.stdout.flush()
    sys.stdout.write(
        "all pages and screens: " + ", ".join(f"{counts[impact]} {impact}" for impact in IMPACTS) + "\n"
    )
    return int(any(counts[impact] for impact in SEVERE))


if __name__ == "__main__":
    sys.exit(main())
