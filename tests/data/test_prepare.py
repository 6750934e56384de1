"""Preparations of the papers: each against its definition, in order, recorded and refused."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.data import PREPARATIONS, prepare
from nspca.data.arrays import to_npz
from nspca.data.dataset import Dataset
from nspca.errors import InvalidData
from tests.files import npz

STEPS = sys.modules["nspca.data.preparation"]  # the function has the name of its module
FACES = np.random.default_rng(0).integers(0, 256, (20, 12)).astype(np.uint8)


def images(X=FACES):
    data = nspca.load_sample("digits")
    n = X.shape[1]
    names = tuple(f"pixel {j}" for j in range(n))
    return replace(
        data,
        X=X,
        feature_names=names,
        sample_names=data.sample_names[: len(X)],
        labels=None,
        image_shape=(3, 4),
    )


def test_lee_seung():
    X = prepare(images(), "lee-seung").X
    one = FACES[3].astype(float)
    expected = np.floor(255 * np.clip(0.25 + 0.25 * (one - one.mean()) / one.std(ddof=1), 0, 1))
    assert np.array_equal(X[3], expected) and X.min() >= 0 and X.max() <= 255
    flat = np.vstack([FACES, np.full((1, 12), 7, np.uint8)])
    assert np.array_equal(prepare(images(flat), "lee-seung").X[-1], np.full(12, np.floor(255 / 4)))
    flat = np.vstack([FACES, np.full((1, 12), 0.1)])  # whose mean is not 0.1
    assert np.array_equal(prepare(images(flat), "lee-seung").X[-1], np.full(12, np.floor(255 / 4)))


def test_equalised():
    """Levels keep their order, and the share of pixels up to each is as near to flat as it can be."""
    X = prepare(images(), "equalised").X
    for row, image in zip(X, FACES, strict=True):
        order = np.argsort(image, kind="stable")
        assert (np.diff(row[order]) >= 0).all() and row.min() >= 0 and row.max() <= 1
        share = np.array([(image <= level).mean() for level in image])
        assert np.abs(row - share).max() <= np.unique(image, return_counts=True)[1].max() / 12 + 1 / 256
    even = np.arange(0, 240, 20)[None].repeat(2, axis=0) + np.array([[0], [15]])
    flat = prepare(images(even), "equalised").X[1]
    assert np.allclose(np.diff(flat), 1 / 12, atol=1 / 255)
    assert np.array_equal(
        prepare(images(FACES * 4.0 + 1000), "equalised").X, prepare(images(stretched()), "equalised").X
    )


def stretched():
    """Return levels stretched to 0 to 255 over the range of the whole table."""
    levels = FACES.astype(float) - FACES.min()
    return np.round(255 * levels / levels.max())


def test_off_the_first_component():
    Z = np.random.default_rng(1).standard_normal((50, 12)) * np.linspace(4, 1, 12) + 3
    data = prepare(images(Z), "off-first")
    before, after = (nspca.Problem.from_data(X, 3, nonneg=False).covariance for X in (Z, data.X))
    values = before.leading(4)[0] * before.unit
    assert np.allclose(after.leading(3)[0] * after.unit, values[1:])
    assert np.allclose(data.X.mean(axis=0), Z.mean(axis=0))
    constant = np.ones((3, 12))
    assert np.array_equal(prepare(images(constant), "off-first").X, constant)


@pytest.mark.parametrize("shape", [(50, 12), (8, 12), (300, 12 * 40), (12 * 40, 300)])
def test_off_the_first_component_leaves_what_says_nothing_as_it_was(shape):
    """A constant feature stays constant: standardising would magnify the rounding errors of a projection."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 256, shape) / 3
    X[:, ::4], X[:, 1] = 255.0, 0.1
    data = replace(
        images(FACES),
        X=X,
        feature_names=tuple(f"pixel {j}" for j in range(shape[1])),
        sample_names=tuple(f"image {i}" for i in range(shape[0])),
        image_shape=None,
    )
    done = prepare(data, "off-first")
    same = data.constant_columns()
    assert same.size and np.array_equal(done.constant_columns(), same)
    assert np.array_equal(done.X[:, same], X[:, same])
    Z = X - X.mean(axis=0)
    v = np.linalg.svd(Z, full_matrices=False)[2][0]
    assert np.allclose(done.X, X.mean(axis=0) + Z - np.outer(Z @ v, v), atol=1e-10)
    assert np.array_equal(prepare(data, "off-first").X, done.X)


def test_what_the_first_component_takes_whole_is_constant_afterwards():
    X = np.zeros((6, 3))
    X[:, 0], X[:, 1] = [9, -9, 9, -9, 7, 7], [1, 1, -1, -1, 0, 0]
    X[:, 2] = X[:, 1] * 0.3
    done = prepare(Dataset("a", X, tuple("abc"), tuple("123456")), "off-first")
    assert list(done.constant_columns()) == [0]
    two = prepare(images(FACES[:2]), "off-first")
    assert len(two.constant_columns()) == 12


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13, 21, 34, 60])
def test_of_equal_first_components_one_is_taken_off(n):
    """One of n - 1 equal eigenvalues of the centred identity is removed."""
    done = STEPS.off_first(np.eye(n))
    assert np.square(done - done.mean(axis=0)).sum() == pytest.approx(n - 2, abs=1e-9)


def test_a_large_table_is_off_its_first_component_in_a_moment(monkeypatch):
    """A large table is projected by one eigenvector; computing all of them took 20 times as long."""
    monkeypatch.setattr(np.linalg, "svd", None)
    full, sizes = np.linalg.eigh, []
    monkeypatch.setattr(np.linalg, "eigh", lambda S: sizes.append(len(S)) or full(S))
    X = np.random.default_rng(0).standard_normal((400, 400))
    STEPS.off_first(X)
    STEPS.off_first(X[:100])
    assert sizes == [100]


@pytest.mark.parametrize("step", ["lee-seung", "equalised", "off-first"])
def test_sizes_near_the_ends_of_float64_are_numbers_like_others(step):
    X = np.random.default_rng(0).standard_normal((5, 12))
    usual = prepare(images(X), step).X
    for power in (1022, -1000):
        unit = 1.0 if step != "off-first" else 2.0**power
        assert np.array_equal(prepare(images(X * 2.0**power), step).X, usual * unit)
    ends = np.where(X > 0, 1e308, -1e308)
    assert set(np.unique(prepare(images(ends), "equalised").X)) <= set(np.arange(256) / 255)


def test_log2_keeps_a_sparse_table_sparse():
    X = sp.csr_array(np.array([[0, 1.0, 3] + [0] * 9, [7] + [0] * 11]))
    data = prepare(replace(images(X.toarray()), X=X), "log2")
    assert sp.issparse(data.X) and np.allclose(data.X.toarray()[:, :3], [[0, 1, 2], [3, 0, 0]])


def test_steps_are_done_in_order_and_recorded():
    both = prepare(images(), "lee-seung", "off-first")
    assert both.prepared == ("lee-seung", "off-first")
    assert both.notes[-2:] == tuple(PREPARATIONS[name].note for name in both.prepared)
    assert np.array_equal(both.X, prepare(prepare(images(), "lee-seung"), "off-first").X)
    assert prepare(images()).prepared == ()
    assert both.image_shape == (3, 4)


def with_fields():
    fields = np.random.default_rng(1).standard_normal((20, 2))
    return replace(images(), header=fields, header_names=("scale", "pixel 0"))


def test_header_fields_become_features_behind_the_others():
    data = with_fields()
    wide = prepare(data, "lee-seung", "with-header")
    assert np.array_equal(wide.X, np.hstack((prepare(data, "lee-seung").X, data.header)))
    assert wide.feature_names[-3:] == ("pixel 11", "scale", "pixel 0 (2)")
    assert wide.prepared == ("lee-seung", "with-header") and wide.image_shape is None and wide.kind == "table"
    with pytest.raises(InvalidData, match="came without"):
        prepare(wide, "with-header")


def test_header_fields_travel_in_an_npz():
    data = with_fields()
    back = nspca.read(to_npz(data))
    assert np.array_equal(back.header, data.header) and back.header_names == data.header_names
    assert data.transposed().header is None
    for wrong in (data.header[:5], data.header[0], data.header * np.nan, data.header > 0):
        read = nspca.read(npz(X=FACES, header=wrong))
        assert read.header is None and 'left out: "header"' in " ".join(read.notes)
    assert nspca.read(npz(X=FACES, header=data.header)).header_names == ("header field 1", "header field 2")
    X = np.where(np.arange(20)[:, None] == 3, np.nan, FACES)
    left = nspca.read(npz(X=X, header=data.header), missing="samples")
    assert np.array_equal(left.header, np.delete(data.header, 3, axis=0))


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (
            images(),
            "whiten",
            "A preparation is one of lee-seung, equalised, log2, off-first, with-header, got",
        ),
        (replace(images(), image_shape=None), "equalised", "“Equalised” needs images"),
        (
            replace(images(), X=sp.csr_array(FACES * 1.0)),
            "equalised",
            "needs images that are not a sparse table",
        ),
        (
            replace(images(), X=sp.csr_array(FACES * 1.0)),
            "lee-seung",
            "needs images that are not a sparse table",
        ),
        (nspca.load_sample("pitprops"), "off-first", "needs a table of samples that is not sparse"),
        (nspca.load_sample("pitprops"), "log2", "needs a table of samples"),
        (
            images(),
            "with-header",
            "“With header fields” needs header fields, which this copy came without: leave",
        ),
        (images(FACES - 5.0), "log2", r"needs values above -1, the smallest here is -[45]: leave"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(data, name, said):
    with pytest.raises(InvalidData, match=said):
        prepare(data, name)


def test_printed_values_of_the_faces(nspca_data, monkeypatch):
    """Table 1 of 2015 prints 5.23 for SpanSPCA; 58 % of the optimum at k = 180 are in Section 7 of 2014."""
    monkeypatch.setenv("NSPCA_DATA", str(nspca_data))
    data = prepare(nspca.load_sample("cbcl"), "equalised")
    problem = nspca.Problem.from_data(data.X, 40, nonneg=False)
    found = nspca.solve(problem, "spanspca", components=5, rank=4, polish=False, certify=None)
    assert found.value == pytest.approx(5.234, abs=5e-4)
