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


def share(page: Page) -> None:
    """Open the box of the button Share."""
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_test_id("stPopoverBody").wait_for()


def single_files(page: Page) -> None:
    """Open the list of single files in the box of the button Share."""
    share(page)
    page.get_by_test_id("stPopoverBody").locator("summary").filter(has_text="Single files").click()
