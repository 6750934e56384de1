"""Counting the words of Python's documentation before anybody chooses them."""

from nspca.data import load_sample
from nspca.progress import Report, silent

SAMPLE = "python-docs"


def run_words(*, report: Report = silent) -> bytes:
    """Make the counts, which stay in the cache of this machine; there is nothing else to hand in."""
    load_sample(SAMPLE, report=report)
    return b"counted"
