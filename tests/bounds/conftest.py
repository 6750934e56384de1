"""What tests of the bounds share."""

from dataclasses import replace

import pytest

from nspca.bounds.plan import JOINT_PLANS


@pytest.fixture
def hasty(monkeypatch):
    """Few steps and cones."""
    plan = replace(JOINT_PLANS["standard"], packing=3.1e4 * 80, cap=500, cones=4000, rhos=(0.25,))
    monkeypatch.setitem(JOINT_PLANS, "standard", plan)
