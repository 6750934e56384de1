"""Start a dashboard with folders of its own and a browser, for the benchmarks of pages and visits."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from nspca.cli.app import streamlit_command

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


PAGES = {
    "home": "",
    "data": "data?sample=digits",
    "sweep": "sweep?sample=digits",
    "spannogram": "spannogram?sample=digits",
    "parts": "components?sample=orl-faces",
    "topics": "components?sample=state-of-the-union",
    "components": "components?sample=pitprops",
    "papers": "papers?item=asteris2014-figure-4",
    "runs": "runs",
    "learn": "learn?screen=3",
    "join": "join",
}
"""All pages, with an answer on them: name -> address."""


def with_present(path: str) -> str:
    """Return the address of a page in present mode."""
    return f"{path}{'&' if '?' in path else '?'}present=1"


@contextlib.contextmanager
def opened() -> Iterator[Browser]:
    """Yield the chromium of this machine."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def kept(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """Yield a context with a profile on disk, which keeps compiled scripts as in daily use."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        context = browser.browser_type.launch_persistent_context(
            profile, executable_path=chromium(), args=FLAGS, **options
        )
        yield context
        context.close()


def chromium() -> str:
    """Return the path of the browser that is installed; none is ever downloaded."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise RuntimeError("a chromium is required on PATH, and none was found: install the package chromium")
    return found


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Yield the address of a dashboard with folders of its own, which ends with all its processes."""
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        command = [*streamlit_command("localhost", port, "localhost"), "--server.headless=true"]
        with running(command, port, os.environ | {"NSPCA_HOME": home}) as url:
            yield url


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def running(
    command: Sequence[str], port: int, environment: Mapping[str, str], folder: Path | None = None
) -> Iterator[str]:
    """Yield the address of a server that a command starts at a port; end it with all its processes."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, env=environment, cwd=folder, start_new_session=True, **quiet)
    try:
        while socket.socket().connect_ex(("localhost", port)):
            if server.poll() is not None:
                raise RuntimeError(f"the server must start, and `{' '.join(command)}` ended with an error")
            time.sleep(0.1)
        yield f"http://localhost:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)  # workers that outlived it
