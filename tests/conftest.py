"""Fixtures and hooks that all tests share. The environment is set before NumPy is imported anywhere."""

import atexit
import gc
import logging
import os
import shutil
import tempfile
from itertools import islice
from pathlib import Path

# One BLAS thread: tests run beside worker processes, and sums come out in the same order every time.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_variable] = "1"
# The user's own runs, uploads and downloads are never touched.
_home = tempfile.mkdtemp(prefix="nspca-test-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ["NSPCA_HOME"] = _home

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

settings.register_profile(
    "nspca",
    derandomize=True,
    deadline=None,
    print_blob=False,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("nspca")

MOST_PROCESSES = 4


def in_browser(config) -> int:
    """Return how many processes begin with the tests in the browser. These tests wait more than they compute,
    so two processes with half of the visits each keep one core busy. Without the visits one process is
    enough.
    """
    return 1 if "not visit" in config.getoption("markexpr") else 2


def pytest_xdist_auto_num_workers(config) -> int:
    """Return the number of processes: one for each core besides those for the browser, and at most four,
    since each may start a dashboard. Named files get a process each. A single file runs in this process,
    where it is done before another process has started.
    """
    named = config.getoption("file_or_dir")
    files = len(named) if named and all(".py" in name for name in named) else MOST_PROCESSES
    count = min(in_browser(config) + (os.cpu_count() or 1), files, MOST_PROCESSES)
    return count if count > 1 else 0


def pytest_make_parametrize_id(val, argname):
    """Name bytes after their argument. A compressed file holds the second in which it was made, and processes
    that share the tests must collect equal names.
    """
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Switch garbage collection off during collection, and exempt the imported modules for good."""
    gc.disable()
    result = yield
    gc.enable()
    gc.freeze()
    return result


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Begin one or two processes with the tests in the browser, and the next with those of the dashboard's
    pages.

    Each of the former has a server, for its share of the files in the browser. All pages are in few
    processes, since each imports Streamlit. A process that has nothing left to do takes the last tests of
    others.
    """
    inside = [item for item in items if "browser" in item.path.parts]
    pages = [item for item in items if "dashboard" in item.path.parts]
    others = [item for item in items if not {"browser", "dashboard"} & {*item.path.parts}]
    files, count = list(dict.fromkeys(item.path for item in inside)), in_browser(config)
    shares = [[item for item in inside if item.path in files[one::count]] for one in range(count)]
    share = len(items) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))  # what a process begins with
    items[:], rest = [], iter(others)
    for number, head in enumerate((*shares, pages)):
        items += islice(rest, max(0, number * share - len(items)))
        items += head
    items += rest


@pytest.fixture
def caplog(caplog, monkeypatch):
    """The log of the package, also after a test that sent it to standard error alone by starting the app, or
    that silenced all handlers by starting workers of Dask.
    """
    monkeypatch.setattr(logging.getLogger("nspca"), "propagate", True)
    caplog.set_level(logging.INFO, logger="nspca")
    return caplog


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Give searches for several components few steps and cones in this process."""
    from nspca.bounds.plan import JOINT_PLANS
    from tests.hasty import PLANS

    for effort, plan in PLANS.items():
        monkeypatch.setitem(JOINT_PLANS, effort, plan)


@pytest.fixture(scope="session")
def nspca_data() -> Path:
    """The folder of real data sets."""
    folder = os.environ.get("NSPCA_DATA")
    if not folder:
        pytest.skip("NSPCA_DATA names no folder of real data sets")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"NSPCA_DATA={folder} is not a folder")
    return path.resolve()


LEFT_OUT = {}


def pytest_deselected(items):
    for item in items:
        mark = next((mark for mark in ("long", "visit") if item.get_closest_marker(mark)), None)
        if mark:
            LEFT_OUT[mark] = LEFT_OUT.get(mark, 0) + 1


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = LEFT_OUT


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    LEFT_OUT.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter):
    """Print what was left out, and the sentences that tests recorded under ``said``: counts of the cases that
    they tried.
    """
    for report in terminalreporter.getreports("passed"):
        for name, sentence in report.user_properties:
            if name == "said":
                terminalreporter.write_line(sentence)
    if "-m" not in terminalreporter.config.invocation_params.args:
        for mark, of in (("visit", "make test-visits"), ("long", "make test-long")):
            if mark in LEFT_OUT:
                terminalreporter.write_line(
                    f"left out: {LEFT_OUT[mark]} tests marked {mark}, which are run by: {of}"
                )
