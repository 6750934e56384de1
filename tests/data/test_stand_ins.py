"""The stand-ins in the tree are what their script makes, and have the structure they stand for."""

import gzip
import importlib.util
import io

import numpy as np
import pytest

from nspca.data import load_sample
from nspca.data.folders import sample_folder


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_stand_ins", sample_folder() / "make_stand_ins.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(script):
    return script.make()


def test_the_script_makes_what_is_in_the_tree(made):
    for file, content in made.items():
        kept = (sample_folder() / file).read_bytes()
        if file.endswith(".npz"):
            with np.load(io.BytesIO(content)) as new, np.load(io.BytesIO(kept)) as old:
                assert new.files == old.files
                for key in new.files:
                    if new[key].dtype.kind in "US":
                        assert np.array_equal(new[key], old[key])
                    else:
                        # Another libm may round the last bit of an exponential the other way: one grey level,
                        # one count.
                        assert np.abs(new[key].astype(np.float64) - old[key].astype(np.float64)).max() <= 1
        elif file.endswith(".gz"):
            assert gzip.decompress(content) == gzip.decompress(kept)
        else:
            assert content == kept


def test_another_seed_makes_other_data(script):
    assert not np.array_equal(
        script.faces(np.random.default_rng(1), 5).X, script.faces(np.random.default_rng(2), 5).X
    )


def test_they_are_small_and_nothing_else_is_there(made):
    files = {path.name for path in sample_folder().iterdir() if path.is_file()}
    assert files == {*made, "pitprops.csv", "README.md", "make_stand_ins.py"}
    assert sum((sample_folder() / file).stat().st_size for file in files) < 3_000_000
    readme = (sample_folder() / "README.md").read_text(encoding="utf-8")
    assert all(f"`{file}`" in readme for file in made)


STEMS = ("mar", "vel", "tor", "sil", "bru", "kan")


def leading(X):
    """Leading principal direction, signed so that its largest entry is positive."""
    Z = X - X.mean(axis=0)
    v = np.linalg.svd(Z, full_matrices=False)[2][0]
    return v * np.sign(v[np.argmax(np.abs(v))])


def test_faces_are_darker_at_the_eyes_than_between_them():
    data = load_sample("cbcl")
    mean = data.X.reshape(-1, 19, 19).mean(axis=0)
    eyes, bridge = mean[6, 4:7].min(), mean[6, 9]
    assert eyes < bridge - 10
    assert mean[15, 9] < mean[12, 5]
    assert len(np.unique(data.X, axis=0)) == len(data.X)


def test_spectra_have_the_silicate_band_where_it_belongs():
    data = load_sample("lrs")
    ratio = data.X[data.labels == "silicate emission"].mean(axis=0) / data.X[data.labels == "star"].mean(
        axis=0
    )
    blue = slice(0, 44)
    assert abs(data.axis[blue][np.argmax(ratio[blue])] - 9.7) < 0.6
    assert data.X.mean(axis=1) == pytest.approx(np.full(len(data.X), 5000), rel=0.05)


def test_expression_has_groups_heavy_tails_and_negative_values():
    X, labels = load_sample("leukemia").X, load_sample("leukemia").labels
    assert X.shape == (72, 2000)
    assert 0.05 < (X < 0).mean() < 0.4
    assert X.max() > 50 * np.median(np.abs(X))
    logs = np.log(np.maximum(X, 20))
    between = np.stack([logs[labels == label].mean(axis=0) for label in np.unique(labels)]).var(axis=0)
    within = np.stack([logs[labels == label].var(axis=0) for label in np.unique(labels)]).mean(axis=0)
    # Three times 90 marker genes were planted; chance leaves next to none above this ratio.
    assert 100 < (between > 1.5 * within).sum() < 400


def test_topics_can_be_told_by_the_stems_of_their_words():
    data = load_sample("bow-kos")
    counts = data.X.toarray()
    stems = np.array([name[:3] for name in data.feature_names])
    shares = np.stack([counts[:, stems == stem].sum(axis=1) for stem in STEMS], axis=1)
    shares = shares / shares.sum(axis=1, keepdims=True)
    # An even share of six topics is 0.17; documents of a sparse mixture are mostly about one.
    assert np.median(shares.max(axis=1)) > 0.6
    # Under centring the words of a topic move together: the leading direction of the topic words lies on one
    # or two stems.
    chosen = np.isin(stems, STEMS)
    weight = leading(counts[:, chosen]) ** 2
    by_stem = sorted((weight[stems[chosen] == stem].sum() for stem in STEMS), reverse=True)
    assert sum(by_stem[:2]) > 0.8
    assert data.X.nnz / counts.size < 0.15
