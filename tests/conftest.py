"""What every test shares. The environment is set before NumPy is imported anywhere."""

import atexit
import os
import shutil
import tempfile
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


def pytest_xdist_auto_num_workers(config) -> int:
    """A process for each core and one more, as browser tests wait a lot; at most four, as each may start a
    dashboard of its own.

    Files that are named get a process each, and a single one runs here: it would be done before another
    process is up.
    """
    named = config.getoption("file_or_dir")
    files = len(named) if named and all(".py" in name for name in named) else MOST_PROCESSES
    count = min(1 + (os.cpu_count() or 1), files, MOST_PROCESSES)
    return count if count > 1 else 0


def pytest_collection_modifyitems(items):
    """Tests in the browser come first: one process then has nearly all of them, with one server and one
    browser at a time.
    """
    items.sort(key=lambda item: "browser" not in item.path.parts)


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


def pytest_terminal_summary(terminalreporter):
    """What tests have to say besides having passed: counts of what they tried."""
    for report in terminalreporter.getreports("passed"):
        for name, sentence in report.user_properties:
            if name == "said":
                terminalreporter.write_line(sentence)
