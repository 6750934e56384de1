"""Parts of a page that are folded: what a visitor clicks to see them."""

from playwright.sync_api import Locator, Page


def fold(page: Page, title: str) -> Locator:
    """Return the line of a folded part of a page."""
    return page.locator("summary").filter(has_text=title)


def unfold(page: Page, title: str) -> None:
    """Open a folded part of a page."""
    fold(page, title).click()


def change_question(page: Page) -> None:
    """Open the form of a page that shows an answer."""
    unfold(page, "· change")
