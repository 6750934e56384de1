"""Fixtures for tests of matrices on disk and on workers."""

import pytest

from nspca.bounds import elimination
from nspca.covariance import data
from nspca.local_search import outside


@pytest.fixture
def few(monkeypatch):
    """Set a limit of 100 features and 60 candidates, so that a small table counts as a large one."""
    for module in (data, elimination):
        monkeypatch.setattr(module, "CANDIDATES", 60)
    monkeypatch.setattr(elimination, "MOST_KEPT", 50)
    monkeypatch.setattr(outside, "DENSE_LIMIT", 100)
    monkeypatch.setattr(data, "FORMED", 100)
    monkeypatch.setattr(data, "WHOLE_LIMIT", 100)
