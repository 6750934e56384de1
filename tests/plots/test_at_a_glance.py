"""Thumbnails of data sets, and the heat map of a component's features."""

import base64
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image
from scipy.stats import mannwhitneyu

from nspca.plots.data_preview import HEIGHT, WIDTH, thumbnail
from nspca.plots.scoremap import score_map, separation
from nspca.plots.theme import alt_text

RNG = np.random.default_rng(0)


def picture(svg: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(re.search(r"base64,([^\"]+)", svg)[1]))))


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_a_table_is_a_small_map(wrap):
    X = RNG.normal(size=(200, 5000))
    X[:, 0] = 3  # a constant feature divides by nothing
    svg = thumbnail(wrap(X))
    assert ET.fromstring(svg).attrib["width"] == str(WIDTH) and len(svg) < 12_000
    assert picture(svg).shape == (21, 60, 3)
    small = picture(thumbnail(np.array([[0.0, 1], [1, 0]])))
    assert small.shape == (2, 2, 3) and (small[0, 0] == small[1, 1]).all() and small[0, 0, 2] > small[0, 1, 2]


def test_images_spectra_and_words_are_what_they_are():
    images = np.arange(30 * 6.0).reshape(30, 6) % 7
    sheet = picture(thumbnail(images, kind="image", image_shape=(2, 3)))
    assert sheet.shape == (3 * 3 - 1, 8 * 4 - 1, 4) and sheet[0, 0, 0] == 0 and sheet[2, 0, 3] == 0
    spectra = ET.fromstring(thumbnail(RNG.random((9, 40)), kind="spectrum", axis=np.arange(40)[::-1]))
    assert len(spectra) == 5 and len(spectra[0].attrib["points"].split()) == 40
    counts = sp.csr_array(np.array([[1, 0, 5, 0], [0, 2, 5, 0]]))
    words = ET.fromstring(thumbnail(counts, kind="words", feature_names=["a", "<b>&", "most", "d"]))
    assert [part.text for part in words][:2] == ["most", "<b>&"] and all(
        float(part.attrib["y"]) <= HEIGHT for part in words
    )


def test_the_map_is_sorted_by_score_and_by_weight():
    X, x = RNG.normal(size=(30, 8)), np.array([0, 0.6, 0, -0.8, 0, 0, 0, 0])
    scores = X @ x
    names = [f"g{j}" for j in range(8)]
    figure = score_map(
        X,
        x,
        scores,
        labels=np.array(list("ab") * 15),
        feature_names=names,
        sample_names=[f"s{i}" for i in range(30)],
    )
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.allclose(figure.data[0].z, z[np.argsort(scores)][:, [3, 1]].T, atol=1e-6)
    assert list(figure.layout.yaxis.ticktext) == ["g3", "g1"]
    assert [int(code) for code in figure.data[1].z[0]] == [
        {name: index for index, name in enumerate(trace.name for trace in figure.data[2:])}["ab"[i % 2]]
        for i in np.argsort(scores)
    ]
    assert alt_text(figure) == "Heat map of the component: 2 features, 30 samples sorted by score."


def test_a_searched_feature_has_a_frame_and_its_symbol():
    names = ["CD33 CD33 antigen (M23197_at)", "b", "c"]
    figure = score_map(np.eye(4)[:, :3], np.eye(3), np.eye(4)[:, :3], feature_names=names, marked=[0])
    (frame,), (note,) = [figure.layout.shapes[-1:], figure.layout.annotations[-1:]]
    assert note.text == "CD33" and frame.y0 < note.y < frame.y1


def test_a_large_map_is_thinned_and_says_so():
    X = sp.random_array((1000, 60), density=0.3, rng=RNG, format="csr")
    x = np.linspace(1, 2, 60)
    figure = score_map(X, x, X @ x)
    assert figure.data[0].z.shape == (40, 400) and "40 of 60 features, 400 of 1000 samples" in alt_text(
        figure
    )
    assert figure.layout.yaxis.ticktext[0] == "feature 60" and len(figure.data) == 1


def test_separation_is_the_share_of_pairs():
    scores, labels = np.round(RNG.normal(size=60), 1), np.repeat([0, 1, 2], 20)
    scores[labels == 2] -= 1.5
    name, share = separation(scores, labels)
    expected = mannwhitneyu(scores[labels == 2], scores[labels != 2]).statistic / (20 * 40)
    assert name == "2" and share == pytest.approx(expected) and share < 0.5
    assert separation([1.0, 2, 3], ["a"] * 3) is None
    assert separation([1.0, 1, 1, 2], list("abab"))[1] in (0.25, 0.75), "equal scores count half"
    assert separation([1.0, 2, 3], ["a", "a", "b"]) in (("a", 0.0), ("b", 1.0))


@pytest.mark.parametrize(("kind", "more"), [("image", {"image_shape": (4, 5)}), ("spectrum", {})])
def test_sparse_images_and_spectra_look_like_dense_ones(kind, more):
    X = RNG.random((30, 20)) * (RNG.random((30, 20)) < 0.4)
    dense, sparse = (thumbnail(Y, kind=kind, axis=np.arange(20.0), **more) for Y in (X, sp.csr_array(X)))
    assert dense == sparse
