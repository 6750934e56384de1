"""Groups of samples from a second table, and from the beginnings of their names."""

import numpy as np
import pandas as pd
import pytest

from nspca.data import Dataset, annotate, load_sample, read
from nspca.data.annotation import PREFIX, name_groups, read_annotation
from nspca.errors import InvalidData
from tests.files import saved

NAMES = [f"{kind}_{i}" for kind in ("ALL", "AML", "MLL") for i in range(4)]
X = np.random.default_rng(0).normal(size=(12, 3)).round(3)
TABLE = pd.DataFrame(X, columns=["g1", "g2", "g3"], index=NAMES).to_csv().encode()
GENES = pd.DataFrame(X.T, columns=NAMES, index=["g1", "g2", "g3"]).to_csv().encode()
ABOUT = pd.DataFrame(
    {"sample": NAMES[::-1], "sex": ["f", "m"] * 6, "batch": [1, 2, 3] * 4, "age": range(30, 42)}
)


def csv(table: pd.DataFrame, **how) -> bytes:
    return table.to_csv(index=False, **how).encode()


@pytest.mark.parametrize(
    "write", [csv, lambda table: saved(table.to_excel, index=False), lambda table: csv(table, sep=";")]
)
@pytest.mark.parametrize(("raw", "turned"), [(TABLE, False), (GENES, True)], ids=["samples", "genes in rows"])
def test_columns_are_joined_by_name(write, raw, turned):
    data = read(raw, features_in_rows=turned, annotation=write(ABOUT))
    assert data.sample_names == tuple(NAMES)
    assert [*data.label_columns] == [PREFIX, "sex", "batch"] and data.label_name == "sex"
    assert data.labels.tolist() == (["f", "m"] * 6)[::-1]
    assert data.label_columns["batch"].tolist() == ([1, 2, 3] * 4)[::-1]
    assert "The annotation has all 12 samples." in data.notes
    assert any('"age" of the annotation is no groups' in note for note in data.notes)
    by_batch = read(raw, features_in_rows=turned, annotation=write(ABOUT), label_column="batch")
    assert by_batch.label_name == "batch" and by_batch.labels.tolist() == ([1, 2, 3] * 4)[::-1]
    assert data.labelled("batch").labels.tolist() == by_batch.labels.tolist()


def test_it_says_what_matched_and_what_did_not():
    some = pd.concat([ABOUT.iloc[2:], pd.DataFrame({"sample": ["XXX_1"], "sex": ["f"]})])
    data = read(TABLE, annotation=csv(some))
    assert data.labels[-1] == "(none)" and data.labels[0] != "(none)"
    said = next(note for note in data.notes if note.startswith("The annotation has"))
    assert said == (
        'The annotation has 10 of the 12 samples, and not "MLL_2", "MLL_3"; 1 of its rows name no sample.'
    )
    changed = ABOUT.assign(sample=[name.lower().replace("_", ".") for name in ABOUT["sample"]])
    assert read(TABLE, annotation=csv(changed)).labels.tolist() == (["f", "m"] * 6)[::-1]
    numbers = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"{i}-x" for i in range(12)]).to_csv().encode()
    as_r = pd.DataFrame({"id": [f"X{i}.x" for i in range(12)], "sex": ["f", "m"] * 6})
    assert read(numbers, annotation=csv(as_r)).labels.tolist() == ["f", "m"] * 6


@pytest.mark.parametrize(
    ("annotation", "sentence"),
    [
        (
            csv(ABOUT.assign(sample="s" + ABOUT["sample"])),
            'samples such as "ALL_0", .* rows such as "sMLL_3"',
        ),
        (csv(pd.DataFrame({"gene": ["g1", "g2", "g3"], "x": [1, 2, 3]})), "take its rows as features"),
        (b"sample\nALL_1\nALL_2\n", "a table with a column of sample names"),
        (b"\x89PNG\r\n\x1a\n\0\0", "this is another format"),
        (b"PK\x03\x04 cut", "damaged"),
        (b"", "empty"),
    ],
    ids=range(6),
)
def test_an_annotation_that_does_not_fit_is_one_sentence(annotation, sentence):
    raw, turned = (GENES, False) if "features" in sentence else (TABLE, False)
    if "features" in sentence:
        annotation = csv(ABOUT)
    with pytest.raises(InvalidData, match=sentence) as error:
        read(raw, features_in_rows=turned, annotation=annotation)
    assert "\n" not in str(error.value)


def test_labels_that_are_nowhere_and_covariances():
    with pytest.raises(InvalidData, match='no column "nothing"'):
        read(TABLE, annotation=csv(ABOUT), label_column="nothing")
    with pytest.raises(InvalidData, match="no samples that an annotation"):
        annotate(load_sample("pitprops"), read_annotation(csv(ABOUT)))
    with pytest.raises(InvalidData, match="form no groups"):
        read(b"a,b\n1,2\n3,4\n5,6\n7,9\n", label_column=PREFIX)


def test_beginnings_of_names():
    assert name_groups(NAMES).tolist() == [name[:3] for name in NAMES]
    assert name_groups(["ALL", "ALL (2)", "AML", "AML (2)"]).tolist() == ["ALL", "ALL", "AML", "AML"]
    assert name_groups(["T1", "T2", "N1", "N2"]).tolist() == ["T", "T", "N", "N"]
    for none in ("GSM1 GSM2 GSM3 GSM4", "a b c d", "1 2 3 4", "a1 a2 b1", "a1 a2 a3 b1"):
        assert name_groups(none.split()) is None
    data = read(TABLE)
    assert data.labels is None and [*data.label_columns][-1] == PREFIX
    assert read(TABLE, label_column=PREFIX).labels.tolist() == [name[:3] for name in NAMES]
    assert isinstance(data.labelled(PREFIX), Dataset)


@pytest.mark.parametrize("above", ["# made in May\n", "Samples of 2020\n\n", "sep=,\n"])
def test_lines_above_an_annotation_are_no_rows(above):
    table = "name,a,b,c\n" + "".join(f"s{i},{i},{i * i},{i % 3}\n" for i in range(8))
    about = above + "name,group,city\n" + "".join(f"s{i},{'xy'[i % 2]},c{i}\n" for i in range(8))
    data = read(table.encode(), annotation=about.encode())
    assert data.label_name == "group" and data.labels.tolist() == ["x", "y"] * 4
