"""A real browser and a real server for the tests of this folder."""

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tests.servers import Server

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LIMIT = 180_000  # milliseconds, many because a loaded machine is slow
# Tabs share the storage of a site. This empties the storage when a new tab opens.
FORGET = "sessionStorage.begun ?? (localStorage.clear(), sessionStorage.begun = 1)"


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def absent(reason: str):
    """Skip the test, or fail it when ``NSPCA_REQUIRE_BROWSER`` promises a browser."""
    if os.environ.get("NSPCA_REQUIRE_BROWSER") == "1":
        pytest.fail(f"NSPCA_REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser that is installed; none is ever downloaded."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or absent(
        "no chromium is on PATH: `sudo apt-get install chromium` (Debian, Ubuntu) or `brew install --cask "
        "chromium` (macOS)"
    )


@pytest.fixture(scope="session")
def profile(tmp_path_factory) -> Path:
    """Return the folder for compiled scripts of the dashboard, which halve the time of opening a page."""
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="module")
def window(chromium, profile):
    """One browser for the tests of a file, which are its tabs.

    Not for the session: Playwright keeps an event loop in this thread, and tests elsewhere start their own.
    """
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'nspca[test]'"
    )
    options = {"executable_path": chromium, "headless": True, "args": list(FLAGS), "reduced_motion": "reduce"}
    with api.sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, viewport={"width": 1360, "height": 900}, **options
        )
        context.set_default_timeout(LIMIT)
        api.expect.set_options(timeout=LIMIT)
        context.add_init_script(FORGET)
        yield context
        context.close()


@pytest.fixture
def browser(window):
    """Return the browser, for a test that needs ``browser.new_context()``."""
    return window.browser


@pytest.fixture
def page(window, request):
    """A fresh page that remembers nothing; a failed test leaves a picture of it."""
    window.clear_cookies()
    page = window.new_page()
    yield page
    report = request.node.stash.get(OUTCOME, None)
    if report is not None and report.failed:
        folder = Path(tempfile.gettempdir()) / "nspca-screenshots"
        folder.mkdir(exist_ok=True)
        picture = folder / f"{request.node.name.replace('/', '_')}.png"
        with contextlib.suppress(
            Exception
        ):  # the page may have crashed; the test's own failure is what counts
            page.screenshot(path=picture, full_page=True)
            sys.stderr.write(f"\nscreenshot of {page.url}: {picture}\n")
    page.close()


OUTCOME = pytest.StashKey[pytest.TestReport]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[OUTCOME] = report
    return report


@pytest.fixture(scope="session")
def app_server(chromium, tmp_path_factory):
    """The running `Server`: `.url`, `.home`, `.log`, and `.stop()` / `.start()` for tests of a restart."""
    home = tmp_path_factory.mktemp("home")
    server = Server(home, first="from tests import hasty; hasty.hire(); ").start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def app_url(app_server) -> str:
    """The address of the dashboard, without a trailing slash."""
    return app_server.url
