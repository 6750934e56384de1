"""No test of this folder sees the user's cache or a folder of originals unless it asks for it."""

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, request):
    """A cache folder of its own, and no originals."""
    folder = tmp_path / "home"
    monkeypatch.setenv("NSPCA_HOME", str(folder))
    if "nspca_data" not in request.fixturenames:
        monkeypatch.delenv("NSPCA_DATA", raising=False)
    return folder
