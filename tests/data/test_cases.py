"""Files in layouts that people have, from a folder beside the original data, are read right or refused."""

import os
from pathlib import Path

import pytest

from nspca.data import read, read_text
from nspca.errors import InvalidData

FOLDER = Path(os.environ.get("NSPCA_DATA", "none"), "..", "cases", "reading")
SHAPES = {
    "saf_counts.txt": ((8, 60), ["S0_ctl"], ["ENSG00000100000"], '"Chr"'),
    "htseq_merged.tsv": ((8, 60), ["S0_ctl"], ["ENSG00000100000"], "count no gene"),
    "proteinGroups_small.txt": ((8, 54), ["S0_ctl"], ["P00001"], "decoys and contaminants"),
    "gct12.gct": ((8, 60), ["S0_ctl"], ["ENSG00000100000"], "GCT"),
    "tpm_two_names.tsv": ((8, 60), ["S0_ctl"], ["ENSG00000100000"], "features"),
    "GSE0_series_matrix.txt.gz": ((8, 60), ["GSM0"], ["1000_at"], "GEO"),
    "mex3.zip": ((8, 60), ["AAAAAAAA0-1"], ["GENE0"], "10x"),
    "sheet.ods": ((24, 12), ["s0"], ["v1"], ""),
    "data.svmlight": ((20, 6), [], [], "label"),
    "i_tiff.zip": ((12, 64), ["0"], [], ""),
    "i_imgs_csv.zip": ((12, 64), ["0"], [], "labels.csv"),
    "i_exif.zip": ((6, 1024), ["0"], [], "upright"),
    "two_csv.zip": ((24, 12), ["s0"], ["v1"], "samples.csv"),
    "x_merged_groups.xlsx": ((24, 13), [], ["rep"], "Merged cells"),
    "x_formula_nocache.xlsx": ((24, 12), ["s0"], ["v1"], "not stored in the file"),
}
"""Shape, first names of samples and of features, and a part of a finding."""
LABELS = {
    "GSE0_series_matrix.txt.gz": "group",
    "i_imgs_csv.zip": "label",
    "two_csv.zip": "group",
    "data.svmlight": "label",
}
TEXTS = {
    "open_question.csv": (60, {"price", "staff"}),
    "reviews_multiline.csv": (40, {"breakfast", "room"}),
    "tweets.jsonl": (30, {"rain", "weather"}),
    "t_zh.zip": (12, {"天气", "公园"}),
    "t_gbk.zip": (12, {"天气", "公园"}),
    "t_ocr.zip": (12, {"government", "province", "railway", "mountains"}),
}
"""Number of documents, and some of their words."""


def case(name: str) -> Path:
    path = FOLDER / name
    if not path.is_file():
        pytest.skip("the folder of cases is not beside NSPCA_DATA")
    return path


@pytest.mark.parametrize("name", SHAPES)
def test_a_table_has_its_shape_and_names(name):
    data = read(case(name))
    shape, samples, features, said = SHAPES[name]
    assert data.X.shape == shape
    assert list(data.sample_names[: len(samples)]) == samples
    assert list(data.feature_names[: len(features)]) == features
    assert said in " ".join(data.notes)
    assert data.label_name == LABELS.get(name, "")


def test_merged_cells_are_a_group_of_every_sample():
    groups = read(case("x_merged_groups.xlsx"), label_column="group").labels
    assert groups.tolist() == [f"G{i // 6}" for i in range(24)]


def test_slides_are_refused_by_their_name():
    with pytest.raises(InvalidData, match="PowerPoint"):
        read(case("deck.pptx"))


@pytest.mark.parametrize("name", TEXTS)
def test_texts_have_their_documents_and_words(name):
    data = read_text(case(name))
    count, words = TEXTS[name]
    assert data.X.shape[0] == count and words <= set(data.feature_names)
