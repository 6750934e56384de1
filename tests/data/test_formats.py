"""NPZ, docword, images, archives and folders."""

import gzip
import io
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image

from nspca.data import load_sample, prepare, read
from nspca.data.arrays import to_npz
from nspca.errors import InvalidData, InvalidOption
from tests.files import archive, npy, npz, saved

X = np.arange(12.0).reshape(4, 3)


def image(pixels, kind="PPM", mode=None) -> bytes:
    return saved(Image.fromarray(np.asarray(pixels, dtype=np.uint8 if mode is None else None)).save, kind)


def test_npz_with_everything():
    raw = npz(
        X=X,
        y=np.array(["a", "b", "a", "b"]),
        feature_names=np.array(["u", "v", "v"]),
        sample_names=np.array(list("pqrs")),
    )
    data = read(raw)
    assert np.array_equal(data.X, X)
    assert data.labels.tolist() == ["a", "b", "a", "b"]
    assert data.feature_names == ("u", "v", "v (2)")
    assert data.sample_names == tuple("pqrs")
    spectrum = read(npz(X=X, axis=np.array([1.0, 2.0, 3.0])))
    assert spectrum.kind == "spectrum"
    assert spectrum.axis.tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", ">f8", "?", "u8"])
def test_npz_types(dtype):
    data = read(npz(X=(X % 2).astype(dtype)))
    assert data.X.dtype == (np.uint8 if dtype == "u1" else np.float64)
    assert np.array_equal(data.X, X % 2)


def test_npz_with_one_table_of_another_name_and_plain_npy():
    data = read(npz(table=X, other=np.arange(3)))
    assert any('"table"' in note for note in data.notes)
    assert np.array_equal(read(npy(X)).X, X)
    assert np.array_equal(read(npy(np.asfortranarray(X))).X, X)
    assert np.array_equal(read(npy(X), features_in_rows=True).X, X.T)
    stack = read(npy(np.arange(24).reshape(2, 3, 4)))
    assert stack.image_shape == (3, 4)
    assert stack.kind == "image"


@pytest.mark.parametrize(
    "extra",
    [
        {"image_shape": np.array([np.nan, 1.0])},
        {"image_shape": np.array(["1", "3"])},
        {"image_shape": np.array([1, 1, 3])},
        {"axis": np.array(["a", "b", "c"])},
        {"axis": np.array(1.0)},
        {"axis": np.array([1.0, np.nan, 3.0])},
        {"labels": np.zeros((2, 2))},
    ],
)
def test_extras_that_are_not_what_they_are_called_are_left_out(extra):
    data = read(npz(X=X, **extra))
    assert np.array_equal(data.X, X) and data.kind == "table" and data.labels is None
    assert any("left out" in note for note in data.notes)


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_matrix])
def test_sparse_npz_as_scipy_saves_it(layout):
    raw = saved(sp.save_npz, layout(X))
    data = read(raw)
    assert sp.issparse(data.X) and data.X.format == "csr"
    assert np.array_equal(data.X.toarray(), X)
    assert np.array_equal(read(raw, features_in_rows=True).X.toarray(), X.T)


@pytest.mark.parametrize(
    "table",
    [X, sp.csr_array(X), np.arange(12, dtype=np.uint8).reshape(4, 3)],
    ids=["dense", "sparse", "uint8"],
)
def test_a_dataset_comes_back_from_npz_and_equal_data_make_equal_bytes(table):
    given = read(npz(X=X, labels=np.arange(4), feature_names=np.array(["ä", "b", "c"])))
    given = type(given)("t", table, given.feature_names, given.sample_names, given.labels)
    data = read(to_npz(given))
    assert (abs(data.X - table)).sum() == 0
    assert data.X.dtype == table.dtype
    assert data.feature_names == ("ä", "b", "c")
    assert data.labels.tolist() == [0, 1, 2, 3]
    assert to_npz(given) == to_npz(given)


def test_texts_and_label_columns_come_back_from_npz_and_follow_their_rows():
    given = replace(
        read(npz(X=X)),
        kind="words",
        texts=("one ä", "", "three\n", "𝔣our"),
        label_columns={"$array": np.arange(4), "by": np.array(["a", "a", "b", "b"])},
    ).labelled("by")
    assert given.labelled("nothing") is None and given.label_name == "by"
    for some, kept in ((given, range(4)), (given.rows([3, 1]), [3, 1])):
        data = read(to_npz(some))
        assert data.texts == tuple(given.texts[i] for i in kept) and data.kind == "words"
        assert data.label_columns["$array"].tolist() == list(kept) and data.label_name == "by"
        assert data.labels.tolist() == [given.labels[i] for i in kept] and data.X.tolist() == X[kept].tolist()
    for ends in (np.array([3, 2, 9, 9]), np.array([1, 2, 3]), np.array([0.0] * 4)):
        odd = read(npz(X=X, texts=np.zeros(9, np.uint8), text_ends=ends))
        assert odd.texts is None and odd.notes[-1].endswith('"texts".')
    with pytest.raises(InvalidData, match="got 0 samples"):
        read(npz(X=X[:0], texts=np.zeros(9, np.uint8), text_ends=np.zeros(0, int)))
    with pytest.raises(InvalidData, match='4 labels "by" are needed, got 3'):
        replace(given, label_columns={"by": np.arange(3)})


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_covariance_comes_back_from_npz_as_one(kind):
    given = load_sample("pitprops")
    data = read(to_npz(replace(given, X=kind(given.X))))
    assert data.is_covariance and data.feature_names == given.feature_names
    for odd in (np.array([True, True]), np.array(1), np.array("yes"), np.array(False)):
        assert not read(npz(X=given.X, is_covariance=odd)).is_covariance
    with pytest.raises(InvalidData, match="as many rows as columns, got 4 x 3"):
        read(npz(X=X, is_covariance=np.array(True)))


def test_what_was_done_to_the_numbers_comes_back_from_npz_and_nothing_else_does():
    given = prepare(read(npz(X=X)), "log2", "off-first")
    data = read(to_npz(given))
    assert data.prepared == ("log2", "off-first") and np.array_equal(data.X, given.X)
    assert data.notes[-1] == f"Before it was saved: {given.notes[-1]}"
    assert not read(npz(X=X)).prepared
    data = read(npz(X=X, prepared=np.array(["log2", "<b>", "a" * 10_000])))
    assert data.prepared == ("log2",) and "2 of its preparations are not known here." in data.notes
    for odd in (np.array([["log2"]]), np.arange(3), np.array("log2"), np.array(["log2"] * 101)):
        data = read(npz(X=X, prepared=odd))
        assert not data.prepared and data.notes[-1].endswith('left out: "prepared".')


DOCWORD = b"3\n4\n5\n1 1 2\n1 4 1\n3 2 7\n3 3 1\n3 3 4\n"


def test_docword_with_and_without_vocabulary(tmp_path):
    expected = [[2, 0, 0, 1], [0, 0, 0, 0], [0, 7, 5, 0]]
    data = read(DOCWORD)
    assert data.X.toarray().tolist() == expected
    assert (data.kind, data.X.format, data.X.dtype) == ("words", "csr", np.float64)
    assert data.feature_names[0] == "word 1"
    named = read(gzip.compress(DOCWORD), vocabulary=b"tea\nmilk\ntea\nrum\n")
    assert named.feature_names == ("tea", "milk", "tea (2)", "rum")
    (tmp_path / "docword.x.txt.gz").write_bytes(gzip.compress(DOCWORD))
    (tmp_path / "vocab.x.txt").write_bytes(b"a\nb\nc\nd\n")
    assert read(tmp_path / "docword.x.txt.gz").feature_names == tuple("abcd")
    assert read(tmp_path).feature_names == tuple("abcd")
    packed = archive({"docword.txt": DOCWORD, "vocab.txt": b"a\nb\nc\nd\n"})
    assert read(packed).feature_names == tuple("abcd")
    assert read(DOCWORD.replace(b"\n", b"\r\n")).X.toarray().tolist() == expected


def test_vocabulary_of_another_length():
    with pytest.raises(InvalidData, match="4 words, got 2 lines"):
        read(DOCWORD, vocabulary=b"a\nb\n")


PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def test_images_in_a_zip_and_in_a_folder(tmp_path):
    files = {
        "faces/f10.pgm": image(PIXELS[1]),
        "faces/f9.pgm": image(PIXELS[0]),
        "__MACOSX/faces/._f9.pgm": b"junk",
        "readme.txt": b"hello",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    for source in (archive(files), tmp_path):
        data = read(source)
        assert np.array_equal(data.X, PIXELS.reshape(2, 12))
        assert data.X.dtype == np.uint8
        assert (data.image_shape, data.kind) == ((3, 4), "image")
        assert data.sample_names == ("f9", "f10")
        assert data.feature_names[4] == "row 2 column 1"


def test_folders_become_labels_and_colours_grey():
    colour = np.stack([PIXELS[0]] * 3, axis=2)
    data = read(
        archive(
            {
                "a/1.png": image(colour, "PNG"),
                "b/1.png": image(PIXELS[1], "PNG"),
                "b/2.png": image(PIXELS[1], "PNG"),
            }
        )
    )
    assert data.labels.tolist() == ["a", "b", "b"]
    assert data.sample_names == ("1", "1 (2)", "2")
    assert np.array_equal(data.X[0], PIXELS[0].ravel())
    assert any("grey" in note for note in data.notes)


def test_images_of_16_bits_keep_their_levels():
    raw = b"P5 2 2 65535\n" + np.array([1, 256, 40000, 65535], dtype=">u2").tobytes()
    assert read(archive({"a.pgm": raw, "b.pgm": raw})).X[0].tolist() == [1, 256, 40000, 65535]


def photo(width: int, height: int, form: str, turned: bool = False) -> bytes:
    """A colour picture, light on the right, with a dark corner on top."""
    across = np.linspace(0, 255, width).astype(np.uint8)
    pixels = np.repeat(np.repeat(across[None, :, None], height, 0), 3, 2)
    stream, exif = io.BytesIO(), Image.Exif()
    if turned:
        exif[0x0112] = 3  # held upside down
    Image.fromarray(pixels).save(stream, form, exif=exif)
    return stream.getvalue()


PHOTOS = {
    "a.jpg": photo(640, 480, "JPEG"),
    "b.webp": photo(480, 640, "WEBP"),
    "c.png": photo(50, 40, "PNG"),
    "broken.jpg": b"\xff\xd8\xff nothing",
    "turned.jpg": photo(640, 480, "JPEG", turned=True),
}


def test_images_of_any_size_and_colour_are_made_grey_and_square_on_request(tmp_path):
    with pytest.raises(InvalidData, match=r'"b.webp" 640 x 480: .* or use image_size=64'):
        read(archive(PHOTOS))
    for name, content in PHOTOS.items():
        (tmp_path / name).write_bytes(content)
    for source in (archive(PHOTOS), tmp_path):
        data = read(source, image_size=16)
        assert data.image_shape == (16, 16) and data.X.dtype == np.uint8 and data.kind == "image"
        assert data.sample_names == ("a", "b", "c", "turned")
        assert any('cannot be read: "broken.jpg"' in note for note in data.notes)
        images = data.X.reshape(-1, 16, 16).astype(float)
        slope = [np.polyfit(range(16), one.mean(axis=0), 1)[0] for one in images]
        assert slope[0] > 5 and slope[1] > 5 and slope[2] > 5 and slope[3] < -5
        assert np.abs(images[0][:, ::-1] - images[3]).max() < 12, "a photo held upside down is turned"
    one_size = read(archive({"a.jpg": photo(9, 8, "JPEG"), "b.jpg": photo(9, 8, "JPEG")}))
    assert one_size.image_shape == (8, 9)
    deep = b"P5 8 8 65535\n" + np.linspace(0, 65535, 64).astype(">u2").tobytes()
    assert np.ptp(read(archive({"a.pgm": deep, "b.pgm": deep}), image_size=4).X) > 200


def test_conversions_that_cannot_be_are_one_sentence(monkeypatch):
    for size in (3, 257, 64.0, True, "64"):
        with pytest.raises(InvalidOption, match="must be a whole number of pixels from 4 to 256"):
            read(archive(PHOTOS), image_size=size)
    with pytest.raises(InvalidData, match=r'got 1: "b\.jpg" cannot be read'):
        read(archive({"a.jpg": photo(9, 8, "JPEG"), "b.jpg": b"nothing"}), image_size=8)
    monkeypatch.setattr("nspca.data.formats.images.MAX_PHOTO", 1000)
    with pytest.raises(InvalidData, match="got 0"):
        read(archive({"a.jpg": photo(99, 80, "JPEG"), "b.jpg": photo(99, 80, "JPEG")}), image_size=8)
