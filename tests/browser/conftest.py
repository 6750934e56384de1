"""A real browser and a real server for the tests of this folder."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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
START_LIMIT = 90  # seconds until a server that does not answer counts as failed
# The proxy of the environment is for the outside; loopback is asked directly.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def absent(reason: str):
    """Skip, or fail where a browser was promised."""
    if os.environ.get("NSPCA_REQUIRE_BROWSER") == "1":
        pytest.fail(f"NSPCA_REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser that is installed; none is ever downloaded."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or absent(
        "no chromium is on PATH: `sudo apt-get install chromium` (Debian, Ubuntu) or `brew install --cask chromium` (macOS)"
    )


@pytest.fixture(scope="module")
def browser(chromium):
    """One browser for the tests of a file.

    Not for the session: Playwright keeps an event loop in this thread, and tests elsewhere start their own.
    """
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -r requirements-test.txt")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, headless=True, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def page(browser, request):
    """A fresh page with its own storage; a failed test leaves a picture of it."""
    context = browser.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(30_000)
    page = context.new_page()
    yield page
    report = request.node.stash.get(OUTCOME, None)
    if report is not None and report.failed:
        folder = Path(tempfile.gettempdir()) / "nspca-screenshots"
        folder.mkdir(exist_ok=True)
        picture = folder / f"{request.node.name.replace('/', '_')}.png"
        with contextlib.suppress(Exception):  # the page may have crashed; the test's own failure is what counts
            page.screenshot(path=picture, full_page=True)
            sys.stderr.write(f"\nscreenshot of {page.url}: {picture}\n")
    context.close()


OUTCOME = pytest.StashKey[pytest.TestReport]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[OUTCOME] = report
    return report


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """The dashboard as a user starts it, on a free loopback port, with folders of its own."""

    def __init__(self, home: Path):
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home / "server.log"
        self.process = None

    def start(self) -> "Server":
        environment = os.environ | {"NSPCA_HOME": str(self.home), "HOME": str(self.home)}
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
        command += ["--server.address=127.0.0.1", f"--server.port={self.port}"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)
        give_up = time.monotonic() + START_LIMIT
        while not self.healthy():
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.stop()
                raise RuntimeError("the dashboard did not start:\n" + self.log.read_text(errors="replace")[-4000:])
            time.sleep(0.1)
        return self

    def healthy(self) -> bool:
        try:
            with DIRECT.open(f"{self.url}/_stcore/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        """End the server and every process it started: they share its session."""
        if self.process is None:
            return
        for how in ("SIGINT", "SIGTERM", "SIGKILL"):
            self.signal_all(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=5)
                break
        self.signal_all("SIGKILL")  # workers that outlived it
        self.process = None

    def signal_all(self, how: str) -> None:
        if os.name == "nt":
            self.process.kill()
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, getattr(signal, how))


@pytest.fixture(scope="session")
def app_server(chromium, tmp_path_factory):
    """The running `Server`: `.url`, `.home`, `.log`, and `.stop()` / `.start()` for tests of a restart."""
    server = Server(tmp_path_factory.mktemp("home")).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def app_url(app_server) -> str:
    """The address of the dashboard, without a trailing slash."""
    return app_server.url
