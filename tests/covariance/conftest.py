"""Fixtures for tests of matrices on disk and on workers."""

import pytest

from nspca.bounds import elimination
from nspca.local_search import outside
from tests.rowblocks import in_parts


@pytest.fixture
def few(monkeypatch):
    """Set a limit of 100 features and 60 candidates, so that a small table counts as a large one."""
    in_parts(monkeypatch, 100, 60)
    monkeypatch.setattr(elimination, "MOST_KEPT", 50)
    monkeypatch.setattr(outside, "DENSE_LIMIT", 100)
