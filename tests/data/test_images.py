"""Images of every format are upright, on white, and have the labels of a table beside them."""

import numpy as np
import pytest
from PIL import Image

from nspca.data import read
from tests.files import archive, saved

PIXELS = [np.random.default_rng(i).integers(0, 256, size=(6, 5), dtype=np.uint8) for i in range(4)]


def encoded(pixels, kind, **options) -> bytes:
    return saved(Image.fromarray(pixels).save, kind, **options)


@pytest.mark.parametrize("size", [None, 5])
def test_photographs_are_turned_upright(size):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    square = [one[:5] for one in PIXELS]
    files = {f"{i}.png": encoded(np.rot90(one), "PNG", exif=exif) for i, one in enumerate(square)}
    data = read(archive(files), image_size=size)
    assert data.X.tolist() == [one.ravel().tolist() for one in square]
    assert size or any("upright" in note for note in data.notes)


def test_white_is_behind_what_is_transparent():
    clear = [np.dstack([one, one, one, np.where(one > 99, 255, 0).astype(np.uint8)]) for one in PIXELS]
    data = read(archive({f"{i}.png": encoded(one, "PNG") for i, one in enumerate(clear)}))
    assert data.X.tolist() == [np.where(one > 99, one, 255).ravel().tolist() for one in PIXELS]
    assert any("White" in note for note in data.notes)


IMAGES = {f"pictures/{i}.png": encoded(one, "PNG") for i, one in enumerate(PIXELS)}


@pytest.mark.parametrize(
    "table",
    [
        b"file,label,who\n0.png,a,x\n1.png,b,x\n2.png,a,y\n3.png,b,y\n",
        b"pictures/0.png\ta\npictures/1.png\tb\nx/2.png\ta\nx/3.png\tb\n",
    ],
)
def test_labels_of_a_table_beside_the_images(table, tmp_path):
    files = {**IMAGES, "labels.csv": table, "readme.txt": b"made up"}
    data = read(archive(files))
    assert data.labels.tolist() == ["a", "b", "a", "b"]
    assert any("labels.csv" in note for note in data.notes) and any(
        "readme.txt" in note for note in data.notes
    )
    if b"who" in table:
        assert read(archive(files), label_column="who").labels.tolist() == ["x", "x", "y", "y"]


def test_a_table_that_is_not_about_the_images_is_named():
    data = read(archive({**IMAGES, "prices.csv": b"a,b\nu,1\nv,2\n"}))
    assert data.labels is None and any('"prices.csv" was not taken' in note for note in data.notes)


TABLE = "sample,a,b\n" + "".join(f"s{i},{i},{i * i}\n" for i in range(6))
ABOUT = "sample,group\n" + "".join(f"s{i},{'uv'[i % 2]}\n" for i in range(6))


def test_a_table_with_what_is_about_it():
    data = read(
        archive({"README.txt": b"made up", "plot.png": IMAGES["pictures/0.png"], "x.csv": TABLE.encode()})
    )
    assert data.X.shape == (6, 2) and any('"README.txt"' in note for note in data.notes)
    for names in (("a.csv", "b.csv"), ("b.csv", "a.csv")):
        both = read(archive({names[0]: TABLE.encode(), names[1]: ABOUT.encode()}))
        assert both.X.shape == (6, 2) and both.labels.tolist() == list("uvuvuv")
        assert any(f'table is "{names[0]}"; "{names[1]}"' in note for note in both.notes)


def test_images_of_8_and_16_bits_are_said():
    levels = [np.full((3, 3), 9 * i, dtype=np.uint16 if i == 1 else np.uint8) for i in range(3)]
    files = {f"{i}.png": saved(Image.fromarray(one).save, "PNG") for i, one in enumerate(levels)}
    assert any("not on one scale" in note for note in read(archive(files)).notes)
