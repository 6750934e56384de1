"""Fixtures that hide the user's cache and folder of originals from the tests of this folder."""

import tracemalloc

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, request):
    """Use an empty cache folder, and no originals."""
    folder = tmp_path / "home"
    monkeypatch.setenv("NSPCA_HOME", str(folder))
    if "nspca_data" not in request.fixturenames:
        monkeypatch.delenv("NSPCA_DATA", raising=False)
    return folder


@pytest.fixture
def bounded_memory():
    """Limit memory: a refusal may allocate the test file and the parser, never what a header claims."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 72 * 2**20  # a refused Parquet file of 19 MiB takes 64
