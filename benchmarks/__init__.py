"""Measurements of what the project claims; none of it runs in the tests."""
