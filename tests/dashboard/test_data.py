"""Data: every sample, an upload, and everything that can be wrong with one."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

from nspca.dashboard.chosen import find
from nspca.data import SAMPLES

STAND_INS = [name for name, sample in SAMPLES.items() if sample.stand_in]
PAGE = "pages/data.py"
READ = {"covariance": False, "id_column": None, "label_column": None, "features_in_rows": False}


def csv(table, header=None, rows=None) -> bytes:
    lines = [] if header is None else [",".join(header)]
    for i, row in enumerate(table):
        lines.append(",".join([*([] if rows is None else [rows[i]]), *map(str, row)]))
    return "\n".join(lines).encode()


def upload(visit, content: bytes, name="table.csv", **address):
    page = visit(PAGE, source="upload", **address)
    page.file_uploader[0].upload(name, content)
    return page.run()


@pytest.fixture
def table():
    return np.round(np.random.default_rng(0).normal(size=(9, 5)), 3)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "python-docs"])
def test_every_sample_opens(visit, stand_ins, name, texts, alts):
    page = visit(PAGE, sample=name)
    assert not page.exception and not page.error
    assert [metric.label for metric in page.metric] == ["Samples", "Features", "Zeros", "Memory", "Labels"]
    if name in STAND_INS:
        assert "stand-in" in texts(page)
        assert any(button.label == "Download" for button in page.button) == SAMPLES[name].downloadable
        assert SAMPLES[name].licence.split()[0] in texts(page)
    assert page.get("plotly_chart"), "a spectrum"
    assert all(alts(page))


@pytest.mark.parametrize("name", STAND_INS)
def test_the_original_takes_the_place_of_the_stand_in(visit, nspca_data, name, texts):
    page = visit(PAGE, sample=name)
    assert not page.exception and not page.error
    assert "original data" in texts(page) and "stand-in" not in page.subheader[0].value + page.markdown[0].value
    assert page.metric[1].value == f"{SAMPLES[name].shape[1]:,}"


def test_choosing_a_sample_is_kept_in_the_address(visit, address):
    page = visit(PAGE)
    page.button(key="choose_lrs").click().run()
    assert address(page)["sample"] == "lrs"
    page.switch_page("app.py").run()
    page.switch_page(PAGE).run()
    assert "LRS" in page.subheader[0].value, "the choice survives leaving the page"


def test_an_upload_is_read_kept_and_found_again(visit, table, address, texts):
    names = ["alpha", "<b>beta</b>", "ga*mm*a", "delta", "epsilon"]
    page = upload(visit, csv(table, ["id", *names], [f"s{i}" for i in range(9)]), "my<table>.csv")
    assert not page.exception and not page.error
    assert page.metric[1].value == "5" and "<b>" not in texts(page) and "my<table>" not in texts(page)
    assert list(page.dataframe[0].value.columns) == names and page.dataframe[0].value.index[0] == "s0"
    again = visit(PAGE, **address(page))
    assert again.metric[1].value == "5" and not again.error
    stranger = visit(PAGE, upload=address(page)["upload"])
    assert "no such upload in this workspace" in stranger.error[0].value


def test_features_in_rows_are_suggested_and_turned(visit, texts):
    genes = np.round(np.random.default_rng(1).normal(size=(120, 6)), 3)
    content = csv(genes, ["gene", *(f"patient {i}" for i in range(6))], [f"{1000 + i}_at" for i in range(120)])
    page = upload(visit, content)
    assert "switch on" in texts(page) and page.metric[0].value == "120"
    page.toggle(key="widget_rows").set_value(True).run()
    assert not page.error and page.metric[0].value == "6" and page.metric[1].value == "120"
    assert page.dataframe[0].value.columns[0] == "1000_at"


def test_labels_are_chosen_from_the_columns(visit, table):
    rows = [[*row, "AB"[i % 2]] for i, row in enumerate(table)]
    page = upload(visit, csv(rows, ["a", "b", "c", "d", "e", "kind"]))
    assert page.metric[4].value == "none"
    page.selectbox(key="widget_label").select("kind").run()
    assert not page.error and page.metric[4].value == "2"


def test_text_in_a_column_is_one_sentence_and_naming_the_column_mends_it(visit, table, sentence):
    rows = [[*row, f"note {i}"] for i, row in enumerate(table)]
    page = upload(visit, csv(rows, ["a", "b", "c", "d", "e", "remark"]))
    assert "remark" in sentence(page)
    page.selectbox(key="widget_id").select("remark").run()
    assert not page.error and page.metric[1].value == "5"


def npz(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


WRONG = {
    "empty": (b"", "empty"),
    "one row": (b"a,b,c\n1,2,3\n", "two samples"),
    "not a number": (b"a,b\n1,2\n3,4\n5,nan\n6,7\n", "row 3"),
    "text in numbers": (b"a,b\n1,2\n3,4\n5,six\n7,8\n9,1\n", "six"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "One image"),
    "a pickle": (b"\x80\x04\x95" + bytes(100), "pickle"),
    "objects in an npz": (npz(X=np.array([{}, {}], dtype=object)), ""),
    "a broken zip": (b"PK\x03\x04" + bytes(100), "damaged"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_uploads_are_one_sentence_and_nothing_is_lost(visit, case, sentence):
    content, said = WRONG[case]
    page = upload(visit, content, "table.csv", sample="lrs")
    assert said in sentence(page)
    page.segmented_control(key="widget_source").set_value("sample").run()
    page.button(key="choose_pitprops").click().run()
    assert not page.error and not page.exception and page.metric[1].value == "13"


def test_constant_columns_only_matter_when_scaled(visit, table, sentence):
    page = upload(visit, csv(np.column_stack([table, np.ones(9)]), ["a", "b", "c", "d", "e", "flat"]))
    assert not page.error
    page.toggle(key="widget_scale").set_value(True).run()
    assert "flat" in sentence(page) and "turn scaling off" in sentence(page)
    page.toggle(key="widget_scale").set_value(False).run()
    assert not page.error
    page.toggle(key="widget_scale").set_value(True).run()
    page.toggle(key="widget_drop").set_value(True).run()
    assert not page.error and not page.exception and page.metric[1].value == "5"


def test_logarithms_are_taken_kept_and_refused(visit, table, sentence, address, texts):
    page = upload(visit, csv(np.abs(table), ["a", "b", "c", "d", "e"]))
    page.toggle(key="widget_log").set_value(True).run()
    assert not page.error and address(page)["log"] == "1" and "log2(x + 1)" in page.main.toggle[-1].label + texts(page)
    assert np.allclose(page.dataframe[0].value.to_numpy(), np.log2(np.abs(table) + 1)[:8])
    again = visit(PAGE, **address(page))
    assert again.toggle(key="widget_log").value and np.allclose(again.dataframe[0].value.to_numpy(), np.log2(np.abs(table) + 1)[:8])
    page = upload(visit, csv(np.where(table == table.min(), -2.5, table), ["a", "b", "c", "d", "e"]))
    page.toggle(key="widget_log").set_value(True).run()
    assert "the smallest here is -2.5" in sentence(page).replace("&#45;", "-").replace("&#46;", ".")
    assert not page.toggle(key="widget_log").value and "log" not in page.query_params and page.metric[1].value == "5"


def test_logarithms_keep_a_sparse_table_sparse():
    plain = find({"sample": "bow-kos"}, None).dataset.X
    logged = find({"sample": "bow-kos", "log2": True}, None).dataset.X
    assert sp.issparse(logged) and logged.nnz == plain.nnz
    assert np.allclose(logged.data, np.log2(plain.data + 1.0))


def test_an_indefinite_covariance(visit, sentence):
    page = upload(visit, csv([[1, 2, 0], [2, 1, 0], [0, 0, 1]], ["a", "b", "c"]))
    assert not page.error
    page.toggle(key="widget_cov").set_value(True).run()
    assert "positive semidefinite" in sentence(page)


def test_a_table_that_is_no_covariance(visit, table, sentence):
    page = upload(visit, csv(table))
    page.toggle(key="widget_cov").set_value(True).run()
    assert "as many rows as columns" in sentence(page)
    page.toggle(key="widget_cov").set_value(False).run()
    assert not page.error


DOCWORD = b"3\n4\n6\n1 1 2\n1 2 1\n2 3 4\n2 4 1\n3 1 1\n3 4 2\n"


def test_word_counts_get_their_words(visit, sentence, address):
    page = upload(visit, DOCWORD, "docword.small.txt")
    assert not page.error and not page.exception and page.metric[1].value == "4"
    page.file_uploader[1].upload("wrong.txt", b"one\ntwo\n")
    assert "4" in sentence(page.run()) and "vocab" not in address(page)
    page = visit(PAGE, **address(page))
    page.file_uploader[1].upload("vocab.small.txt", b"alpha\nbeta\ngamma\ndelta\n")
    page.run()
    assert not page.error and len(page.file_uploader) == 1 and "vocab" in address(page)
    chosen = find({"upload": address(page)["upload"], "vocabulary": address(page)["vocab"], **READ}, address(page)["w"])
    assert chosen.dataset.feature_names == ("alpha", "beta", "gamma", "delta")


def test_deleting_an_upload(visit, table, address):
    page = upload(visit, csv(table))
    digest = address(page)["upload"]
    page.button(key=f"delete_{digest[:8]}").click().run()
    assert not page.error and "upload" not in page.query_params


def test_an_unknown_sample(visit, sentence):
    assert "There is no sample" in sentence(visit(PAGE, sample="nothing"))
