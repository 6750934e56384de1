"""Pages run as Streamlit runs them, without a browser; one engine serves all tests of this folder."""

import functools
import html
import sys
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from nspca.dashboard import share
from nspca.dashboard.app import memory
from nspca.dashboard.proof import optimal
from nspca.dashboard.runs import cost_estimate, defaults, first_answer
from nspca.dashboard.sweep import whatif
from nspca.data import samples
from nspca.jobs import engine
from nspca.planning import costs
from tests import threads
from tests.dashboard.figures import drawn
from tests.patience import wait_for

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def sparing():
    """Runs go to threads, samples are opened once, and nobody goes over all objects of the tests every two
    seconds.

    Streamlit's test runner reads the metadata of every installed package for every page that is opened; a
    server does it once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "SECONDS", 60.0)
        threads.hire(patch.setattr)
        for name, load in samples.LOADERS.items():
            patch.setitem(samples.LOADERS, name, functools.cache(load))
        patch.setattr(
            manifest_scanner,
            "scan_component_manifests",
            functools.cache(manifest_scanner.scan_component_manifests),
        )
        yield


@pytest.fixture(autouse=True)
def main_module(monkeypatch):
    """Put the main module back after Streamlit has put a page in its place: new workers run its file."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(autouse=True)
def unasked(monkeypatch):
    """Make no first answers; `first_answers` undoes this."""
    monkeypatch.setattr(first_answer, "LARGEST", 0)


@pytest.fixture
def first_answers(monkeypatch, unasked):
    """Let pages make their first answers."""
    monkeypatch.setattr(first_answer, "LARGEST", defaults.LARGEST)


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    """Measure neither the machine nor its load. Tests of these undo this."""
    monkeypatch.setattr(costs, "speed", lambda: 1e-9)
    monkeypatch.setattr(whatif, "MOMENT", 0.0)
    monkeypatch.setattr(cost_estimate, "busy", lambda: 1.0)


@pytest.fixture(autouse=True)
def nobody_waits():
    """Cancel the runs that a test leaves, which would keep the workers from all tests after it."""
    yield
    for run in [*engine()._runs]:
        engine().cancel(run)


OPEN = (share.KEY, "fold_alone", "fold_features", "fold_proof", "fold_rows")
"""Keys of the boxes that the tests look into. A closed box is empty."""


@pytest.fixture
def visit():
    """``visit("pages/sweep.py", sample="lrs")``: a new session that opens a page by its address."""

    def open_page(path: str = "app.py", **address: object) -> AppTest:
        page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
        for box in OPEN:
            page.session_state[box] = True
        for name, value in address.items():
            page.query_params[name.rstrip("_")] = str(value)
        if path != "app.py":
            page.switch_page(path)
        return page.run()

    return open_page


@pytest.fixture(autouse=True)
def calm(monkeypatch):
    """Let no page begin a search by itself; a test of that puts the function back."""
    monkeypatch.setattr(optimal, "_searches_by_itself", lambda answer, ratio: False)


@pytest.fixture
def stand_ins(monkeypatch):
    """Make this a machine without the original data."""
    monkeypatch.delenv("NSPCA_DATA", raising=False)


@pytest.fixture
def finish():
    """Wait until the run of a page has ended, then look at the page again."""

    def wait(page: AppTest, name: str = "run") -> AppTest:
        run = address(page)[name]
        wait_for(lambda: engine().status(run).ended)
        return page.run()

    return wait


@pytest.fixture
def ran(visit, finish):
    """``ran("pages/sweep.py", sample="lrs")``: a page after its button was pressed and the run has ended."""

    def run(path: str, **asked: object) -> AppTest:
        page = visit(path, **asked)
        page.button(key="run").click().run()
        return finish(page, "components" if "components" in path else "run")

    return run


FINISHED: dict[tuple, dict[str, str]] = {}
"""Addresses of finished runs of this process, for `reopened`."""


@pytest.fixture
def reopened(visit, ran):
    """``reopened("pages/sweep.py", sample="lrs")``: a page with its finished run.

    The first test that asks for it presses the button, and waits for the run. Tests after it open the
    address, which is one drawing in place of three.
    """

    def open_page(path: str, **asked: object) -> AppTest:
        which = (path, *sorted(asked.items()))
        if which not in FINISHED:
            FINISHED[which] = address(ran(path, **asked))
        return visit(path, **FINISHED[which])

    return open_page


@pytest.fixture
def settled():
    """``settled(page, done)``: look at the page again when nothing runs any more, until ``done(page)``."""

    def wait(page, done):
        def looked():
            if done(page):
                return True
            wait_for(lambda: not engine()._runs)
            page.run()
            return done(page)

        wait_for(looked, pause=0.05)
        return page

    return wait


@pytest.fixture
def arrive(visit, settled, first_answers):
    """``arrive(sample="lrs")``: the page Sweep with its first answer."""
    return lambda **asked: settled(visit("pages/sweep.py", **asked), lambda page: page.select_slider)


def address(page: AppTest) -> dict[str, str]:
    """Return the address of a page, with one value for each name."""
    return {name: value if isinstance(value, str) else value[0] for name, value in page.query_params.items()}


@pytest.fixture(name="address")
def address_fixture():
    return address


@pytest.fixture
def texts():
    """Return everything that a page says in one string."""

    def said(page: AppTest) -> str:
        kinds = (page.title, page.subheader, page.markdown, page.caption, page.info, page.warning, page.error)
        folded = [html.unescape(part.label) for part in page.expander]
        said = "\n".join([str(part.value) for kind in kinds for part in kind] + folded)
        return said.replace("\N{NO-BREAK SPACE}", " ")

    return said


@pytest.fixture
def alts():
    """Return the descriptions of all figures of a page, for somebody who does not see them."""
    return lambda page: [sent["alt"] for sent in drawn(page)]


def sentence(page: AppTest) -> str:
    """Return the one error, or else the one warning, of a page, after testing that it raised nothing."""
    assert not page.exception, page.exception[0].message
    said = [*page.error] or [*page.warning]
    assert len(said) == 1, [one.value for one in said]
    return said[0].value


@pytest.fixture(name="sentence")
def sentence_fixture():
    return sentence


@pytest.fixture
def ended(address):
    """Wait until every run of this person has ended, then look at the page again."""

    def wait(page):
        def all_ended():
            runs = engine().store.list_runs(address(page)["w"])
            return runs and all(engine().status(run.id).ended for run in runs)

        wait_for(all_ended)
        return page.run()

    return wait
