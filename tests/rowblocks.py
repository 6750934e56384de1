"""Folders of shards for tests, and a reader that is none of ours."""

import numpy as np
import scipy.sparse as sp

from nspca.bounds import elimination
from nspca.covariance import data
from nspca.covariance.numbers import canonical, sparse_digest
from nspca.shards.writer import Writer


def folder_of(X, place, rows):
    """The shards of sparse X, so many rows each, in the new folder `place`."""
    X = sp.csr_array(X)
    with Writer(place, X.shape[1], rows) as writer:
        for start in range(0, X.shape[0], rows):
            writer.add(sp.csr_array(X[start : start + rows]))
        return writer.finish()


class InMemory:
    """Row blocks of a table in memory: whatever has this interface is read."""

    def __init__(self, X, rows):
        self.X, self.rows = canonical(X), rows
        self.shape, self.digest = X.shape, sparse_digest(self.X)
        self.largest = float(np.abs(self.X.data).max(initial=0.0))

    def blocks(self):
        for start in range(0, self.shape[0], self.rows):
            yield sp.csr_array(self.X[start : start + self.rows])


def counts(rng, m, n, words=20, topics=2, size=6):
    """Zipf words, and some topics of middling words; (m, n)."""
    weights = 1 / np.arange(5, n + 5)
    words = rng.choice(n, size=m * words, p=weights / weights.sum())
    X = sp.coo_array((np.ones(words.size), (np.repeat(np.arange(m), len(words) // m), words)), (m, n)).tocsr()
    for topic in range(topics):
        about = rng.choice(m, m // 10, replace=False)
        at = np.repeat(about, size), np.tile(20 + size * topic + np.arange(size), about.size)
        X = X + sp.coo_array((np.full(at[0].size, 3.0), at), (m, n)).tocsr()
    return sp.csr_array(X)


def in_parts(patch, formed=0, candidates=None, few=None):
    """Let tables of more features than `formed` count as large ones, whose A is never formed whole."""
    for name, value in {"FORMED": formed, "WHOLE_LIMIT": formed, "MANY_ROWS": 0, "FEW": few}.items():
        if value is not None:
            patch.setattr(data, name, value)
    for module in (data, elimination) if candidates else ():
        patch.setattr(module, "CANDIDATES", candidates)
