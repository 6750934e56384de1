"""No test of this folder sees the user's cache or a folder of originals unless it asks for it."""

import tracemalloc

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, request):
    """A cache folder of its own, and no originals."""
    folder = tmp_path / "home"
    monkeypatch.setenv("NSPCA_HOME", str(folder))
    if "nspca_data" not in request.fixturenames:
        monkeypatch.delenv("NSPCA_DATA", raising=False)
    return folder


@pytest.fixture
def bounded_memory():
    """A refusal allocates the test files themselves and the parsers, never what their headers claim."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20
