"""Check the links of the built site: every link to a page, a file or a heading of the site leads somewhere.

    python -m scripts.links build/site
    python -m scripts.links build/site --external     lists the addresses of other sites instead

Addresses of other sites are not opened, because `make docs` works without a network.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Collects the addresses that a page links or shows, and the places that can be linked.

    Attributes
    ----------
    links : list of str
    places : set of str
        The `id` and `name` of everything on the page.
    """

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read one tag."""
        given = dict(attrs)
        self.links += [given[name] or "" for name in ("href", "src") if name in given]
        self.places |= {given[name] or "" for name in ("id", "name") if name in given}


@cache
def read(path: Path) -> Page:
    """Return the links and places of a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def is_external(link: str) -> bool:
    """Tell whether a link leaves the site."""
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def broken(path: Path) -> list[str]:
    """Return the links of a page that lead to no file or no place of the site."""
    found = []
    for link in read(path).links:
        if is_external(link):
            continue
        target = path.parent / unquote(urlsplit(link).path) if urlsplit(link).path else path
        place = unquote(urlsplit(link).fragment)
        leads = target.exists() and (
            not place or target.suffix != ".html" or place in read(target.resolve()).places
        )
        if not leads:
            found.append(link)
    return found


def main(folder: Path, external: bool = False) -> int:
    """Print broken links, or the links to other sites, and return the exit status."""
    pages = sorted(folder.resolve().rglob("*.html"))
    if not pages:
        sys.stderr.write(f"nspca: there are no pages in {folder}: build them first\n")
        return 1
    if external:
        addresses = {link for path in pages for link in read(path).links if is_external(link)}
        sys.stdout.write("".join(f"{address}\n" for address in sorted(addresses)))
        return 0
    found = [(path, link) for path in pages for link in broken(path)]
    for path, link in found:
        sys.stderr.write(
            f"nspca: {path.relative_to(folder.resolve())} links {link}, which is not on the site\n"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--external" in sys.argv))
