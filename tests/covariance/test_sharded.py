"""Data in row blocks: the same matrix as in memory, by passes that are counted."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.bounds import elimination
from nspca.checker import matrix as checked
from nspca.covariance import covariance, data
from nspca.covariance.inputs import from_blocks, from_data
from nspca.errors import InvalidOption, InvalidProblem, Refused
from tests.rowblocks import InMemory, counts, in_parts


def test_leading_eigenpairs_have_their_residual_in_few_passes(monkeypatch):
    X = counts(np.random.default_rng(1), 400, 1500)
    in_parts(monkeypatch, 100)
    A, B = from_blocks(InMemory(X, 150), True, False), from_data(X, True, False)
    assert np.isnan(A.residual)
    values, vectors = A.leading(4)
    assert np.allclose(values, B.leading(4)[0], rtol=1e-9)
    left = np.linalg.norm(A.product(vectors) - vectors * values, axis=0).max() / values[0]
    assert left <= covariance.RESIDUAL and A.residual <= covariance.RESIDUAL
    assert left == pytest.approx(A.residual, rel=0.1, abs=1e-14)
    assert A.passes < 45


def test_a_pass_is_a_pass(monkeypatch):
    X = counts(np.random.default_rng(1), 60, 40, words=4)
    in_parts(monkeypatch, 10)
    read = []
    table = InMemory(X, 25)
    table.blocks = lambda blocks=table.blocks: read.append(1) or blocks()
    A = from_blocks(table, True, False)
    assert A.passes == len(read) == 1  # means and variances come with the first reading of the files
    A.product(np.ones((40, 3)))
    assert A.passes == len(read) == 2  # Z'(ZX) is one pass, not two
    A.block(np.arange(10))
    A.block(np.array([3, 7]))
    assert A.passes == len(read) == 3  # what was formed is held
    A.restrict(np.arange(5))
    assert A.passes == len(read) == 4


def test_more_features_than_can_be_held_are_refused(monkeypatch):
    in_parts(monkeypatch, 10)
    monkeypatch.setattr(data, "DENSE_LIMIT", 10)
    A = from_blocks(InMemory(counts(np.random.default_rng(1), 60, 40), 25), True, False)
    with pytest.raises(Refused, match="at most 10 features, got 11"):
        A.block(np.arange(11))


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
def test_peaks_are_right_above_their_level(monkeypatch, nonneg, seed):
    rng = np.random.default_rng(seed)
    X = (counts(rng, 200, 300) * rng.choice([-1.0, 1.0], 300)).tolil()
    X[:, [290]] = X[:, [0]] / 4  # of little variance, and with a large entry in its row
    X[:, [0]] = X[:, [0]] * 20
    X = sp.csr_array(X)
    in_parts(monkeypatch, 50, 40)
    monkeypatch.setattr(elimination, "MOST_KEPT", 25)
    A, B = from_blocks(InMemory(X, 77), True, False), from_data(X, True, False)
    found, level = elimination.peaks(A, nonneg)
    right = (B.matrix if nonneg else np.abs(B.matrix)).max(axis=1)
    assert level < np.sort(right)[-20]
    assert np.allclose(np.maximum(found, level), np.maximum(right, level), rtol=1e-9)
    assert right[290] > level and 290 not in A.candidates()


@pytest.mark.parametrize(("k", "scale"), [((6, 6), False), (6, True)])
def test_certificates_hold_for_the_table_wherever_it_is(few, k, scale):
    X = counts(np.random.default_rng(3), 120, 130)
    X = sp.csr_array(X[:, np.diff(X.tocsc().indptr) > 0])
    on_disk, in_memory = InMemory(X, 40), sp.csr_array(X)
    one = nspca.Problem.from_shards(on_disk, k, scale=scale)
    other = nspca.Problem.from_data(in_memory, k, scale=scale)
    found, known = nspca.solve(one), nspca.solve(other)
    assert found.value == pytest.approx(known.value, rel=1e-6)
    assert found.info["features"] <= 100 < one.n
    for certificate in (found.certificate, known.certificate, nspca.certify(one, found, effort="fast")):
        for table in (on_disk, in_memory):
            assert nspca.verify(table, certificate, one) >= found.value * (1 - 1e-12)
    nspca.certify(other, found, effort="fast")  # refuses values that are not those of its data


def test_what_makes_no_sense_of_shards_is_refused_in_a_sentence(few):
    X = counts(np.random.default_rng(3), 150, 200)
    problem = nspca.Problem.from_shards(InMemory(X, 40), 3)
    with pytest.raises(InvalidProblem, match="nmf works on data, got shards"):
        nspca.solve(problem, method="nmf")
    with pytest.raises(InvalidOption, match=r"k = \(3,\) \* 2"):
        nspca.solve(problem, components=2)
    with pytest.raises(InvalidProblem, match="good answers are proved of at most"):
        nspca.membership(problem, nspca.solve(problem, certify=None))
    with pytest.raises(Refused, match="50 features together"):
        nspca.solve(problem.with_k((30, 30)))
    with pytest.raises(InvalidProblem, match="a folder of shards is required, got ndarray"):
        nspca.Problem.from_shards(X.toarray(), 3)


def test_a_sweep_reads_the_files_once_for_what_it_needs(few):
    X = counts(np.random.default_rng(3), 150, 200)
    problem = nspca.Problem.from_shards(InMemory(X, 40), 3)
    sweep = nspca.sweep(problem, [2, 4, 6], methods=("auto", "threshold"))
    passes = problem.covariance.passes
    assert (sweep.frame.ratio <= 1).all() and (sweep.frame.ratio > 0.5).all()
    nspca.sweep(problem, [2, 4, 6], methods=("auto", "threshold"))
    assert problem.covariance.passes - passes <= 12  # one look outside for each, no more


def test_data_that_change_between_passes_prove_nothing():
    X = counts(np.random.default_rng(3), 50, 40)
    table = InMemory(X, 20)
    certificate = nspca.certify(nspca.Problem.from_shards(table, 5), effort="fast")
    nspca.verify(table, certificate)

    class Changing(InMemory):
        reads = 0

        def blocks(self):
            self.reads += 1
            for block in super().blocks():
                if self.reads > 3:
                    block.data = block.data / 2
                yield block

    with pytest.raises(nspca.CertificateError, match="not what it was when it was read first"):
        nspca.verify(Changing(X, 20), certificate)


@pytest.mark.parametrize("fault", ["order", "outside", "nan", "zero", "rows", "value", "none"])
def test_a_reader_that_lies_proves_nothing(fault):
    X = counts(np.random.default_rng(3), 50, 40)
    certificate = nspca.certify(nspca.Problem.from_data(X, 5), effort="fast")

    class Lying(InMemory):
        def blocks(self):
            for number, block in enumerate(super().blocks()):
                if fault == "rows" and number == 1:
                    continue
                if fault == "order":
                    block.indices[:2] = block.indices[1::-1]
                if fault == "outside":
                    block.indices[0] = 40
                if fault in ("nan", "zero", "value"):
                    block.data[0] = {"nan": np.nan, "zero": 0.0, "value": 7.5}[fault]
                yield block

    if fault == "none":
        assert nspca.verify(Lying(X, 20), certificate) <= certificate.upper
        return
    words = {"order": "must rise", "outside": "must rise", "nan": "finite", "zero": "finite"}
    words |= {"rows": "must have 50 rows", "value": "digests differ"}
    with pytest.raises(nspca.CertificateError, match=words[fault]):
        nspca.verify(Lying(X, 20), certificate)


def test_what_is_eliminated_is_looked_at_in_passes(few, monkeypatch):
    monkeypatch.setattr(checked, "DENSE_LIMIT", 300)
    monkeypatch.setattr(checked, "SUMS", 2000)  # so that several passes are needed
    X = counts(np.random.default_rng(3), 300, 500)
    table = InMemory(X, 40)
    monkeypatch.setattr("nspca.bounds.core.pays", lambda *_: False)  # elimination, and no weights
    certificate = nspca.solve(nspca.Problem.from_shards(table, (6, 6))).certificate
    assert len(certificate.witness["rows"]) < 60
    assert "y" not in certificate.witness
    assert nspca.verify(table, certificate) <= certificate.upper
    assert nspca.verify(X, certificate) <= certificate.upper
    with pytest.raises(nspca.CertificateError, match="is claimed"):
        nspca.verify(table, replace(certificate, upper=certificate.upper * (1 - 1e-6)))
    tau, W = certificate.witness["tau"], certificate.witness["W"]
    lower = certificate.witness | {"tau": tau * (1 - 1e-6), "W": np.minimum(W, tau * (1 - 1e-6))}
    with pytest.raises(nspca.CertificateError, match="below an entry of A in a row that is not kept"):
        nspca.verify(table, replace(certificate, witness=lower))
