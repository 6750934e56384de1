"""Proofs with a W of few digits: smaller, still proofs, and hardly looser."""

from dataclasses import replace

import numpy as np
import pytest

import nspca
from scripts.lean import lean

WIDE = np.random.default_rng(0).standard_normal((200, 140)) @ np.random.default_rng(1).standard_normal(
    (140, 140)
)
X = WIDE[:, :60]


def proof(k, nonneg=True, effort="fast", X=X):
    problem = nspca.Problem.from_data(X, k, nonneg=nonneg)
    return problem, nspca.certify(problem, nspca.solve(problem, certify=None), effort=effort)


@pytest.mark.parametrize(("k", "nonneg"), [(8, True), ((4, 4, 3), False)])
def test_it_is_smaller_hardly_looser_and_proves_what_it_says(k, nonneg):
    table = WIDE if k == 8 else X  # a single component of few features would have a tree
    problem, certificate = proof(k, nonneg, X=table)
    light = lean(problem, certificate)
    assert "W" in certificate.witness and len(light.to_bytes()) < 0.62 * len(certificate.to_bytes())
    assert light.upper <= certificate.upper * (1 + 1e-3) and light.kind == certificate.kind
    assert nspca.verify(table, light, k=k, nonneg=nonneg) <= light.upper


def test_of_a_symmetric_w_a_file_has_one_half():
    problem, certificate = proof(6)
    light = lean(problem, certificate)
    W = light.witness["W"]
    assert np.array_equal(W, W.T) and W.any()
    again = nspca.Certificate.from_bytes(light.to_bytes())
    assert again.to_bytes() == light.to_bytes() and np.array_equal(again.witness["W"], W)
    assert list(again.witness) == list(light.witness)
    skew = replace(light, witness=light.witness | {"W": np.triu(W)})  # somebody else's: it stays as it is
    assert np.array_equal(nspca.Certificate.from_bytes(skew.to_bytes()).witness["W"], np.triu(W))
    both = replace(light, witness=light.witness | {"W": W + np.tril(np.full_like(W, 1e-300), -1)})
    assert len(light.to_bytes()) < 0.7 * len(both.to_bytes())
