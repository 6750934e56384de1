"""Folders of shards that an operator names: listed, sampled, and nothing beside them."""

import numpy as np
import pytest

import nspca
from nspca.dashboard.data import folders
from nspca.errors import InvalidData
from nspca.shards.served import opened, served
from tests.rowblocks import counts, folder_of

PAGE = "pages/data.py"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the shards "news", a link to others, and other things."""
    X = counts(np.random.default_rng(0), 60, 40, words=6)
    place = tmp_path / "served"
    (place / "empty").mkdir(parents=True)
    (place / "file").write_text("")
    folder_of(X, place / "news", 7)
    folder_of(X, tmp_path / "secret", 7)
    folder_of(X, place / ".hidden", 7)
    (place / "link").symlink_to(tmp_path / "secret")
    monkeypatch.setenv("NSPCA_SHARDS", str(place))
    return place


def test_nothing_is_listed_that_is_not_a_folder_of_shards_there(place, monkeypatch):
    assert served() == ["news"]
    assert opened("news").shape == (60, 40)
    for name in ("link", "../secret", "..", ".", "", ".hidden", "empty", "file", "news/../../secret", "no"):
        with pytest.raises(InvalidData, match="no folder of shards of this name"):
            opened(name)
    with pytest.raises(InvalidData):
        opened(str(place.parent / "secret"))
    (place / "news" / "shards.json").rename(place / "manifest")
    (place / "news" / "shards.json").symlink_to(place / "manifest")
    with pytest.raises(InvalidData):
        opened("news")
    monkeypatch.setenv("NSPCA_SHARDS", str(place / "nowhere"))
    assert served() == []
    monkeypatch.delenv("NSPCA_SHARDS")
    assert served() == []


def test_a_sample_has_rows_of_the_table(place, monkeypatch):
    X, table = counts(np.random.default_rng(0), 60, 40, words=6), opened("news")
    some, rows = table.sample(20)
    assert len({*rows}) == rows.size == 20 and (np.diff(rows) > 0).all()
    assert (some != X[rows]).nnz == 0
    assert table.sample(1000)[0].shape[0] > 50
    monkeypatch.setattr(folders, "ENTRIES", 30)
    content, count = folders.sample(table)
    read = nspca.read(content)
    assert read.X.shape == (count, 40) and 2 <= count < 10
    assert read.sample_names[0].startswith("row ") and tuple(read.feature_names) == table.feature_names


def test_the_page_opens_a_sample_of_a_folder(place, visit, texts, address):
    page = visit(PAGE, source="shards")
    assert not page.exception and not page.error
    assert "60 rows × 40 features" in texts(page) and "secret" not in texts(page)
    page.button(key="rows_0").click().run()
    assert not page.exception and not page.error
    assert page.metric[1].value == "40" and "news" in page.subheader[0].value
    assert "upload" in address(page)
    path = place / "news" / "000003.data.npy"
    path.write_bytes(path.read_bytes()[:-1])
    page = visit(PAGE, source="shards")
    assert not page.exception and "is cut short" in page.error[0].value


def test_without_the_setting_nothing_is_offered(visit, monkeypatch):
    monkeypatch.delenv("NSPCA_SHARDS", raising=False)
    page = visit(PAGE, source="shards")
    assert not page.exception
    assert "shards" not in page.segmented_control[0].options and len(page.segmented_control[0].options) == 2
