"""Fixtures for tests of matrices on disk and on workers."""

import pytest

from nspca.bounds import peaks
from nspca.covariance import data
from nspca.local_search import outside


@pytest.fixture
def few(monkeypatch):
    """Set a limit of 100 features and 60 candidates, so that a small table counts as a large one."""
    for module in (data, peaks):
        monkeypatch.setattr(module, "CANDIDATES", 60)
    monkeypatch.setattr(peaks, "MOST_KEPT", 50)
    monkeypatch.setattr(outside, "DENSE_LIMIT", 100)
    monkeypatch.setattr(data, "FORMED", 100)
    monkeypatch.setattr(data, "WHOLE_LIMIT", 100)
