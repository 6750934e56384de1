"""A spec tells how words were counted and which table gave the groups; its Python and JSON do the same."""

import contextlib
import io

import numpy as np
import pytest

import nspca
from nspca import specs
from nspca.errors import InvalidData, InvalidOption
from nspca.specs import DataSpec, Spec

RIVER = ["the river and the old bridge", "a bridge over the river", "bread and old wine", "wine with bread"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("\n".join(RIVER))
    (tmp_path / "table.csv").write_text("who,a,b\n" + "".join(f"s{i},{i},{i * i % 5}\n" for i in range(6)))
    (tmp_path / "about.csv").write_text("who,kind\n" + "".join(f"s{i},{'xy'[i % 2]}\n" for i in range(6)))
    return tmp_path


def ran(code: str) -> dict:
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "exported.py", "exec"), names)
    return names


def test_counted_words_come_back_from_json_and_python(folder):
    where = DataSpec(path="texts.txt", words=True, stop_words="none", pairs=True, most_words=9)
    spec = specs.SweepSpec(data=where, ks=(2,), effort=None)
    found, code = spec.run(), spec.to_python()
    assert "nspca.read_text('texts.txt'," in code and "pairs=True" in code and "stop_words='none'" in code
    there = ran(code)
    assert (
        there["names"]
        == nspca.read_text("texts.txt", stop_words="none", pairs=True, most_words=9).feature_names
    )
    assert all(np.array_equal(found[pair].components, there["sweep"][pair].components) for pair in found)
    assert Spec.from_json(spec.to_json()) == spec and "text_column" not in spec.to_json()
    assert spec.describe().data == "texts, stop words: none, with pairs of words, 9 words at most"
    assert where.is_words and not DataSpec(path="texts.txt").is_words


def test_a_table_about_the_samples_comes_back_from_python(folder):
    where = DataSpec(path="table.csv", annotation="about.csv")
    data = where.open()
    assert data.labels.tolist() == ["x", "y"] * 3
    code = specs.SweepSpec(data=where, ks=(1,), effort=None).to_python()
    assert "annotation='about.csv'" in code and ran(code)["data"].label_name == "kind"
    given = {"t": (folder / "table.csv").read_bytes(), "n": (folder / "about.csv").read_bytes()}
    uploaded = DataSpec(upload="t", file="table.csv", annotation="n")
    assert uploaded.open(given.__getitem__).label_name == "kind"
    assert DataSpec.from_query(uploaded.to_query()) == uploaded.but(file="")
    with pytest.raises(InvalidData, match="table about the samples was uploaded"):
        uploaded.open()


@pytest.mark.parametrize("text", ["-1", "101", "5,5", "x", "1e1", ""])
def test_shares_in_an_address_are_per_cent(text):
    assert DataSpec.from_query({"upload": "a", "words": "1", "low": "2.5"}).lowest_share == 0.025
    with pytest.raises(InvalidOption):
        DataSpec.from_query({"upload": "a", "low": text})
