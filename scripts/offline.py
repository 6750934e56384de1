"""Find everything that a built page would load from another host.

    python -m scripts.offline build/site

A link to another host is allowed, because a browser follows it only on a click. A script, font or picture of
another host is refused, because every browser that opens the page would fetch it.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

# Links that are followed by hand, or say where a page belongs, load nothing.
FOLLOWED = {"a", "area"}
NAMED = {"canonical", "next", "prev", "search", "index", "genindex", "author", "copyright", "top", "up"}
ADDRESSES = {"src", "srcset", "href", "xlink:href", "poster", "data", "action", "background"}
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*['"]?((?:https?:)?//[^'")\s;]+)""", re.IGNORECASE)
ELSEWHERE = re.compile(r"\s*(?:https?:)?//|.*,\s*(?:https?:)?//", re.IGNORECASE)


class Page(HTMLParser):
    """Collects the addresses on other hosts that a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        given = {name: value or "" for name, value in attrs}
        self.found += IN_STYLES.findall(given.get("style", ""))
        if tag in FOLLOWED or (tag == "link" and set(given.get("rel", "").split()) & NAMED):
            return
        self.found += [given[name] for name in ADDRESSES & set(given) if ELSEWHERE.match(given[name])]

    def handle_data(self, data) -> None:
        if self.lasttag == "style":
            self.found += IN_STYLES.findall(data)


def loads(path: Path) -> list[str]:
    """Addresses on other hosts that this file of a site makes a browser fetch."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return IN_STYLES.findall(text)
    page = Page()
    page.feed(text)
    return page.found


def main(folder: Path) -> int:
    pages = [path for path in sorted(folder.rglob("*")) if path.suffix in (".html", ".css", ".svg")]
    found = [(path.relative_to(folder), address) for path in pages for address in loads(path)]
    for path, address in found:
        sys.stderr.write(f"nspca: {path} must load nothing from another host, and loads {address}\n")
    if not pages:
        sys.stderr.write(f"nspca: there are no pages in {folder}: build them first\n")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
