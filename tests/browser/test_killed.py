"""A whole dashboard that is killed at work, and started again on the same store."""

import os
import re
import signal

import psutil
import pytest
from playwright.sync_api import expect

from tests.browser.folds import fold
from tests.servers import Server

LONG = "sample=orl-faces&from=10&to=300&step=2&effort=thorough"


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path).start()
    yield server
    server.stop()


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_dashboard_shows_what_was_done_and_runs_the_rest_again(page, server):
    page.goto(f"{server.url}/sweep?sample=pitprops&from=1&to=9&step=2")
    page.get_by_role("button", name=re.compile("^Compute ")).click()
    finished, running = fold(page, "The proof"), page.get_by_text("of 146 ready")
    expect(finished).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]run="))
    done = page.url
    page.goto(f"{server.url}/sweep?{LONG}&w={re.search('[?&]w=([^&]+)', done)[1]}")
    page.get_by_role("button", name=re.compile("^Compute ")).click()
    for _ in range(3):
        expect(running).to_be_visible()
        expect(page).to_have_url(re.compile(r"[?&]run="))
        cut = page.url
        workers = psutil.Process(server.process.pid).children(recursive=True)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(timeout=300)
        server.process.stdin.close()
        assert len(workers) > 1 and not psutil.wait_procs(workers, timeout=300)[1], "nobody outlives it"
        server.start()
        page.goto(done)
        expect(finished).to_be_visible()
        page.goto(cut)
        expect(page.get_by_text("The server was restarted while this was running.")).to_be_visible()
        page.get_by_role("button", name="Run again").click()
    expect(running).to_be_visible()
