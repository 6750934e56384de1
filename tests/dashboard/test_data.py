"""Data: every sample, an upload, and everything that can be wrong with one."""

import base64
import html
import io
import re
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.data import cards, reading
from nspca.dashboard.open_data import find, version
from nspca.data import SAMPLES, absent_original, present_samples, shown_name
from nspca.jobs import engine
from nspca.plots import data_preview
from nspca.specs import DataSpec
from tests.dashboard.figures import figures

PAPERS = [name for name, sample in SAMPLES.items() if sample.relative]
PAGE = "pages/data.py"


def csv(table, header=None, rows=None) -> bytes:
    lines = [] if header is None else [",".join(header)]
    for i, row in enumerate(table):
        lines.append(",".join([*([] if rows is None else [rows[i]]), *map(str, row)]))
    return "\n".join(lines).encode()


def upload(visit, content: bytes, name="table.csv", **address):
    page = visit(PAGE, source="upload", **address)
    page.file_uploader[0].upload(name, content)
    return page.run()


def press(page, label: str):
    """Press the first button whose label begins with these words."""
    labels = [html.unescape(one.label) for one in page.button]
    at = next((i for i, one in enumerate(labels) if one.startswith(label)), None)
    assert at is not None, labels
    return page.button[at].click().run()


@pytest.fixture
def table():
    return np.round(np.random.default_rng(0).normal(size=(9, 5)), 3)


@pytest.mark.parametrize("name", [*SAMPLES])
def test_every_sample_opens(visit, stand_ins, name, texts, alts):
    page = visit(PAGE, sample=name)
    assert not page.exception and not page.error
    assert [metric.label for metric in page.metric] == ["Samples", "Features", "Zeros", "Memory", "Labels"]
    assert SAMPLES[shown_name(name)].licence.split()[0] in texts(page), "on its card"
    if original := absent_original(name):
        assert f"**{SAMPLES[original].title}**".split(" (")[0] in texts(page)
        assert any(button.label == "Download" for button in page.button) == SAMPLES[original].downloadable
    assert figures(page), "a spectrum"
    assert all(alts(page))


def test_a_copy_of_an_original_is_taken_by_the_command_line(visit, stand_ins, texts):
    page = visit(PAGE, sample="lrs")
    assert not page.file_uploader and "nspca fetch lrs --copy FILE" in texts(page)


@pytest.mark.parametrize(
    "name", [*PAPERS[:2], *(pytest.param(name, marks=pytest.mark.visit) for name in PAPERS[2:])]
)
def test_the_original_takes_the_place_of_its_relative(visit, nspca_data, name, texts):
    page = visit(PAGE, sample=name)
    assert not page.exception and not page.error
    assert "real data" in texts(page) and "In the place of" not in texts(page)
    assert page.metric[1].value == f"{SAMPLES[name].shape[1]:,}"


def test_choosing_a_sample_is_kept_in_the_address(visit, address):
    page = visit(PAGE)
    page.button(key="choose_coffee").click().run()
    assert address(page)["sample"] == "coffee"
    page.switch_page("app.py").run()
    page.switch_page(PAGE).run()
    assert "Coffee" in page.markdown[0].value, "the choice survives leaving the page"


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


def test_genes_in_rows_are_turned_and_turned_back(visit, texts):
    genes = np.round(np.random.default_rng(1).normal(size=(120, 6)), 3)
    content = csv(
        genes, ["gene", *(f"patient {i}" for i in range(6))], [f"{1000 + i}_at" for i in range(120)]
    )
    page = upload(visit, content)
    assert "Genes in rows: 6 samples, 120 genes." in texts(page)
    assert not page.error and page.metric[0].value == "6" and page.metric[1].value == "120"
    assert page.toggle(key="widget_rows").value and page.dataframe[0].value.columns[0] == "1000_at"
    press(page, "change")
    assert page.metric[0].value == "120" and not page.toggle(key="widget_rows").value
    page.toggle(key="widget_rows").set_value(True).run()
    assert page.metric[0].value == "6"


def test_counts_of_a_known_program_are_turned_back_too(visit, texts):
    counts = np.random.default_rng(1).integers(1, 900, size=(30, 6))
    lines = [[f"ENSG{i:011}", "chr1", i, i + 9, "+", 10, *row] for i, row in enumerate(counts)]
    header = ["Geneid", "Chr", "Start", "End", "Strand", "Length", *(f"s{i}.bam" for i in range(6))]
    page = upload(visit, csv(lines, header), "counts.csv")
    assert "A table of featureCounts" in texts(page) and "Genes in rows: 6 samples, 30 genes." in texts(page)
    assert "the table was transposed" not in texts(page), "it is said once"
    assert page.toggle(key="widget_rows").value
    page = press(page, "change")
    assert page.metric[0].value == "30" and not page.toggle(key="widget_rows").value
    page = press(page, "Take the rows as features")
    assert page.metric[0].value == "6" and "Genes in rows" in texts(page)


def test_a_label_row_among_genes_turns_the_table_and_can_be_turned_back(visit, texts):
    lines = [["class", *"ABABAB"], *([f"{1000 + i}_at", *range(i, i + 6)] for i in range(40))]
    page = upload(visit, csv(lines, ["gene", *(f"s{i}" for i in range(6))]))
    assert not page.error and page.metric[1].value == "40" and page.metric[4].value == "2"
    page.toggle(key="widget_rows").set_value(False).run()
    assert not page.error and page.metric[1].value == "6" and "was left out" in texts(page)
    page.toggle(key="widget_rows").set_value(True).run()
    assert page.metric[4].value == "2" and any(button.label == "In use" for button in page.button)


GAPS = {"samples": (7, 5), "features": (9, 3), "mean": (9, 5)}


def with_gaps(table, *places) -> bytes:
    rows = [["" if (i, j) in places else x for j, x in enumerate(row)] for i, row in enumerate(table)]
    return csv(rows, "abcdefghijklm"[: len(table[0])])


def test_missing_values_are_settled_at_once_changed_recorded_and_reproduced(visit, table, address, tmp_path):
    content = with_gaps(table, (2, 1), (5, 1), (5, 3))
    (tmp_path / "gaps.csv").write_bytes(content)
    page, seen = upload(visit, content, "gaps.csv"), set()
    assert not page.error and not page.warning
    assert address(page)["gaps"] == "mean", "leaving out loses a fifth"
    for how, shape in GAPS.items():
        if address(page)["gaps"] != how:
            next(one for one in page.button if (one.key or "").endswith(f"_{how}")).click()
            page = page.run()
        assert not page.error and (page.metric[0].value, page.metric[1].value) == tuple(map(str, shape))
        again = visit(PAGE, **address(page))
        assert again.metric[1].value == str(shape[1]) and again.selectbox(key="widget_gaps").value == how
        found = find(DataSpec(upload=address(page)["upload"], missing=how), address(page)["w"])
        seen.add(found.content)
        named: dict = {}
        there = found.reference.but(file=str(tmp_path / "gaps.csv"))
        exec("\n".join(["import nspca", *there.to_python()]), named)
        assert np.array_equal(named["X"], found.dataset.X)
        assert tuple(named["names"]) == found.dataset.feature_names
    assert len(seen) == 3, "what was done about missing values makes another data set"


def test_a_covariance_is_offered(visit, table, texts, address):
    page = upload(visit, csv(np.cov(table.T).tolist(), "abcde"))
    assert "looks like a covariance matrix" in texts(page) and page.metric[0].value == "5"
    page.button(key="do_covariance").click().run()
    assert not page.error and page.metric[0].value == "none" and address(page)["cov"] == "1"
    assert "looks like" not in texts(page)


def test_choices_that_belong_to_another_file_are_forgotten(visit, table, address):
    rows = [[*row, "AB"[i % 2]] for i, row in enumerate(table)]
    page = upload(visit, csv(rows, ["a", "b", "c", "d", "e", "kind"]))
    page.selectbox(key="widget_label").select("kind").run()
    page.file_uploader[0].upload("other.csv", csv(table, "vwxyz"))
    page.run()
    assert not page.error and "label" not in address(page)
    stale = visit(PAGE, **{**address(page), "label": "kind", "id": "who", "gaps": "guess"})
    assert (
        not stale.error and not {"label", "id", "gaps"} & set(address(stale)) and stale.metric[1].value == "5"
    )
    page.button(key=f"delete_{address(page)['upload'][:8]}").click().run()
    assert not page.error and "upload" not in address(page) and page.metric[1].value == "64"


def test_an_example_file_in_one_click(visit, texts):
    page = visit(PAGE, source="upload")
    page.button(key="example").click().run()
    assert not page.error and (page.metric[0].value, page.metric[1].value) == ("178", "13")
    assert "holds 3 different texts" in texts(page) and "wine.csv" in texts(page).replace("&#46;", ".")
    press(page, "Use as labels")
    assert page.metric[4].value == "3"


def test_a_selector_of_very_many_names_takes_typed_ones(visit, address, monkeypatch):
    monkeypatch.setattr(reading, "MANY", 30)
    wide = np.round(np.random.default_rng(2).normal(size=(6, 400)), 2)
    page = upload(visit, csv(wide, [f"gene_{j}" for j in range(400)]))
    box = page.selectbox(key="widget_label")
    assert len(box.options) == 31
    box.options.append("gene_127")
    box.set_value("gene_127").run()
    assert address(page)["label"] == "gene_127" and page.metric[1].value == "399"


def test_every_sample_has_its_picture(visit, stand_ins):
    visit(PAGE)
    for name in present_samples():
        drawn, _ = cards.drawing(name, version(name))
        assert drawn.startswith("<svg") and len(drawn) < 40_000
    first, *pictures = [html.proto.body for html in visit(PAGE).get("html") if "<img" in html.proto.body]
    assert 'alt="The first 8 images of digits"' in first
    assert 'alt="Some samples of Handwritten digits, 1,797 × 64"' in pictures[0]
    assert len({re.search('src="(.*?)"', one)[1] for one in pictures}) == len(pictures)
    assert len(pictures) == len(present_samples())


def test_without_the_packages_of_the_samples_the_page_says_how_to_get_them(
    visit, stand_ins, texts, monkeypatch
):
    monkeypatch.delenv("NSPCA_DATA", raising=False)
    for name in [name for name, sample in SAMPLES.items() if sample.package]:
        monkeypatch.setitem(SAMPLES, name, replace(SAMPLES[name], package="no_such_package"))
    open_data._sample.clear()
    page = visit(PAGE, sample="digits")
    assert not page.error and "come with `pip install 'nspca[samples]'`" in texts(page)
    assert len([one for one in page.button if (one.key or "").startswith("choose_")]) == 3
    page = visit(PAGE, sample="cbcl")
    assert "no_such_package" in html.unescape(page.error[0].value) and not page.exception


def test_images_side_by_side_keep_their_pixels():
    rows = np.arange(24.0).reshape(2, 12)
    svg = data_preview.strip(rows, (3, 4))
    png = base64.b64decode(re.search(r"base64,([^\"]+)", svg)[1])
    sheet = np.asarray(Image.open(io.BytesIO(png)))
    assert sheet.shape == (3, 9, 4) and 'viewBox="0 0 9 3"' in svg
    grey = (255 * np.arange(12.0) / 11).astype(np.uint8).reshape(3, 4)
    assert (sheet[:, :4, 0] == grey).all() and (sheet[:, 5:, 0] == grey).all()
    assert (sheet[:, 4, 3] == 0).all(), "a gap between two images"
    assert 'viewBox="0 0 4 7"' in data_preview.strip(rows, (3, 4), lines=2), "one below the other"


def test_what_is_left_out_by_number_is_there_again_when_the_file_is_read_anew(visit, table, address):
    page = upload(visit, with_gaps(table, (2, 1)), "gaps.csv")
    how = next(one for one in GAPS if one != address(page)["gaps"])
    page = visit(PAGE, **address(page), less=0, out=2)
    assert not page.error and {"less", "out"} < address(page).keys()
    next(one for one in page.button if (one.key or "").endswith(f"_{how}")).click()
    page = page.run()
    assert not page.error and address(page)["gaps"] == how and not {"less", "out"} & address(page).keys()


def test_a_file_that_cannot_be_read_is_tried_once(visit, monkeypatch, sentence):
    page = upload(visit, b"a,b\n1,2\n3,4\n5,six\n7,8\n9,1\n")
    assert "six" in sentence(page)
    monkeypatch.setattr(open_data, "open_file", None)
    assert "six" in sentence(page.run())


def test_a_column_of_comments_is_left_out_by_one_button(visit, table, address):
    said = [f"comment {i}" for i in range(9)]
    rows = [[*row[:3], note, *row[3:]] for row, note in zip(table.tolist(), said, strict=True)]
    page = upload(visit, csv(rows, ["a", "b", "c", "note", "d", "e"]))
    press(page, "change")
    assert not page.error and page.metric[1].value == "5" and "nocols" in address(page)


def test_units_below_the_header_are_no_reason_to_turn_the_table(visit, table, sentence):
    rows = [["id", "cm", "kg", "kg", "EUR", "years"], *([f"s{i}", *row] for i, row in enumerate(table))]
    page = upload(visit, csv(rows, ["who", "a", "b", "c", "d", "e"]))
    assert "row 1" in sentence(page) and "if it is a second header" in sentence(page)
    assert not any(button.key in ("do_turn", "do_aside") for button in page.button), "nothing would help"


WRONG = {
    "one row": (b"a,b,c\n1,2,3\n", "two samples"),
    "a broken zip": (b"PK\x03\x04" + bytes(100), "damaged"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_uploads_are_one_sentence_and_nothing_is_lost(visit, case, sentence, address):
    content, said = WRONG[case]
    page = upload(visit, content, "table.csv", sample="lrs")
    assert said in sentence(page)
    kept = engine().store.list_uploads(address(page)["w"]) if "w" in page.query_params else []
    # A table that is refused stays, since other options may read it.
    assert bool(kept) == (case == "one row")
    page.segmented_control(key="widget_source").set_value("sample").run()
    page.button(key="choose_pitprops").click().run()
    assert not page.error and not page.exception and page.metric[1].value == "13"


def test_a_mark_that_may_stand_between_thousands_is_settled_on_the_page(visit, address, sentence, texts):
    page = upload(visit, b"a\tb\tc\n" + b"1,243\t98\t1\n960\t62\t2\n2,080\t89\t3\n" * 3)
    assert "or choose one of these ways" in sentence(page).replace("&#46;", ".")
    elsewhere = visit("pages/sweep.py", **address(page))
    assert "choose on the page Data how the file is read" in sentence(elsewhere)
    assert "thousands=" not in sentence(page)
    press(page, "1,243 is 1243")
    assert not page.error and page.dataframe[0].value.iloc[0, 0] == 1243
    again = visit(PAGE, **address(page))
    assert not again.error and again.dataframe[0].value.iloc[0, 0] == 1243
    again.text_input(key="widget_thousands").set_value("").run()
    assert "may be one" in sentence(again) and "thousands" not in address(again)
    again.text_input(key="widget_decimal").set_value("comma").run()
    assert not again.error and again.dataframe[0].value.iloc[0, 0] == 1.243


def test_what_reading_left_out_stands_below_the_table_unfolded(visit, table):
    days = [f"2020-01-{day:02d}" for day in range(1, 10)]
    lines = ["a,day,b", *(f"{row[0]},{day},{row[1]}" for day, row in zip(days, table, strict=True))]
    page = upload(visit, "\n".join(lines).encode())
    drawn = [(one.type, str(getattr(one, "value", ""))) for one in page.main]
    (below,) = (i for i, (kind, value) in enumerate(drawn) if kind == "caption" and "dates" in value)
    assert "dataframe" in [kind for kind, _ in drawn[:below]]
    assert not any("dates" in caption.value for box in page.expander for caption in box.caption)


def test_constant_columns_are_mentioned_and_only_matter_when_scaled(visit, table, sentence, texts):
    page = upload(visit, csv(np.column_stack([table, np.ones(9)]), ["a", "b", "c", "d", "e", "flat"]))
    assert not page.error and texts(page).count("1 feature takes one value only") == 1
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
    assert (
        not page.error
        and address(page)["log"] == "1"
        and "log2(x + 1)" in page.main.toggle[-1].label + texts(page)
    )
    assert np.allclose(page.dataframe[0].value.to_numpy(), np.log2(np.abs(table) + 1)[:6])
    again = visit(PAGE, **address(page))
    assert again.toggle(key="widget_log").value and np.allclose(
        again.dataframe[0].value.to_numpy(), np.log2(np.abs(table) + 1)[:6]
    )
    page = upload(visit, csv(np.where(table == table.min(), -2.5, table), ["a", "b", "c", "d", "e"]))
    page.toggle(key="widget_log").set_value(True).run()
    assert "the smallest here is -2.5" in sentence(page).replace("&#45;", "-").replace("&#46;", ".")
    assert (
        not page.toggle(key="widget_log").value
        and "log" not in page.query_params
        and page.metric[1].value == "5"
    )


def test_a_covariance_in_single_precision_is_accepted_on_request(visit, sentence, address):
    X = np.random.default_rng(0).standard_normal((3, 8))
    A = np.corrcoef(X.T).astype(np.float32).astype(np.float64)
    page = upload(visit, csv(A.tolist(), "abcdefgh"))
    page.toggle(key="widget_cov").set_value(True).run()
    assert "positive semidefinite" in sentence(page)
    page.toggle(key="widget_repair").set_value(True).run()
    assert not page.error and address(page)["repair"] == "1"


def test_a_file_of_another_type_gets_a_sentence(visit):
    page = upload(visit, b"%PDF-1.4 ...", "paper.pdf")
    assert not page.file_uploader[0].proto.type, "Streamlit refuses other types in a hover text alone"
    assert len(page.error) == 1 and page.error[0].value.startswith("This is a PDF")


DOCWORD = b"3\n4\n6\n1 1 2\n1 2 1\n2 3 4\n2 4 1\n3 1 1\n3 4 2\n"


def test_word_counts_get_their_words(visit, sentence, address):
    page = upload(visit, DOCWORD, "docword.small.txt")
    assert not page.error and not page.exception and page.metric[1].value == "4"
    page.file_uploader[1].upload("wrong.txt", b"one\ntwo\n")
    assert "4" in sentence(page.run()) and "vocab" not in address(page)
    page = visit(PAGE, **address(page))
    page.file_uploader[1].upload("vocab.small.txt", b"alpha\nbeta\ngamma\ndelta\n")
    page.run()
    assert not page.error and "vocab" in address(page)
    assert not any("vocabulary" in one.label for one in page.file_uploader)
    chosen = find(
        DataSpec(upload=address(page)["upload"], vocabulary=address(page)["vocab"]), address(page)["w"]
    )
    assert chosen.dataset.feature_names == ("alpha", "beta", "gamma", "delta")


def test_deleting_an_upload(visit, table, address):
    page = upload(visit, csv(table))
    before = address(page)
    page.button(key=f"delete_{before['upload'][:8]}").click().run()
    assert not page.error and "upload" not in page.query_params
    for path in (PAGE, "pages/sweep.py"):
        page = visit(path, **before)
        assert page.error and all("no such upload" in error.value for error in page.error)
        assert not page.metric and not figures(page), "whoever has the address sees it no more"


def test_an_unknown_sample(visit, sentence):
    assert "There is no sample" in sentence(visit(PAGE, sample="nothing"))


def test_data_are_prepared_as_in_the_papers_and_what_does_not_suit_is_left_out(visit, texts):
    page = visit(PAGE, sample="digits")
    pills = page.button_group(key="widget_prep")
    assert pills.options == [
        "Lee–Seung",
        "Equalised",
        "First component out",
    ]
    pills.set_value(["lee-seung"]).run()
    assert not page.error and not page.exception and "mean 1/4 and deviation 1/4" in texts(page)
    page = visit(PAGE, sample="pitprops", prep="equalised")
    assert "“Equalised” needs images" in page.error[0].value and not page.exception
    assert "prep" not in page.query_params


def test_a_constant_feature_is_left_out_after_the_first_component_too(visit, address):
    table = np.random.default_rng(0).integers(0, 256, (30, 60))
    table[:, ::3], table[:, 1] = 255, 0
    page = upload(visit, csv(table), drop=1)
    page = visit(PAGE, **{**address(page), "prep": "off-first", "drop": 1, "scale": 1})
    assert not page.error and not page.exception
    assert page.metric[1].value == "39" and figures(page), "a spectrum"


ABOUT = ("river and bridge with water {}", "bread and wine with cheese {}")
TEXTS = [ABOUT[i % 2].format("abcdefghijkl"[i] * 3)
         for i in range(12)]  # fmt: skip
TABLE_OF_TEXTS = pd.DataFrame({"id": range(12), "text": TEXTS, "kind": ["a", "b"] * 6})


def test_texts_are_counted_as_soon_as_they_are_given(visit, texts, address):
    page = upload(visit, TABLE_OF_TEXTS.to_csv(index=False).encode(), "letters.csv")
    assert not page.error and not page.exception and page.metric[0].value == "12"
    assert address(page)["words"] == "1" and "12 texts and how often each of" in texts(page)
    assert any(link.proto.label.startswith("Components: which topics") for link in page.get("page_link"))
    page.selectbox(key="widget_weigh").select("tfidf").run()
    assert not page.error and address(page)["weigh"] == "tfidf" and "how much each of" in texts(page)
    page.number_input(key="widget_high").set_value(20.0).run()
    assert address(page)["high"] == "20.0" and (page.error or page.metric[1].value != "6")
    page.number_input(key="widget_high").set_value(50.0).run()
    again = visit(PAGE, **address(page))
    assert not again.error and again.metric[1].value == page.metric[1].value
    page.selectbox(key="widget_label").select("kind").run()
    assert page.metric[4].value == "2" and address(page)["label"] == "kind"
    page.toggle(key="widget_words").set_value(False).run()
    assert page.warning and any(button.label == "Count their words" for button in page.button)
    page.button(key="do_count").click().run()
    assert not page.error and address(page)["words"] == "1"


def test_texts_are_pasted(visit, texts, address):
    page = visit(PAGE, source="upload")
    page.text_area[0].set_value("\n".join(TEXTS)).run()
    page.button(key="count_pasted").click().run()
    assert not page.error and page.metric[0].value == "12" and address(page)["words"] == "1"
    page.text_area[0].set_value("1 2 3").run()
    page.button(key="count_pasted").click().run()
    assert len(page.error) == 1 and page.metric[0].value == "12", "what was there stays"


def genes_and_samples() -> tuple[bytes, bytes]:
    names = [f"{kind}_{i}" for kind in ("ALL", "AML") for i in range(6)]
    X = np.random.default_rng(0).normal(size=(40, 12)).round(2)
    about = pd.DataFrame({"who": names[::-1], "sex": ["f", "m"] * 6, "batch": [1, 2, 3] * 4})
    genes = pd.DataFrame(X, columns=names, index=[f"{1000 + i}_at" for i in range(40)])
    return genes.to_csv().encode(), about.to_csv(index=False).encode()


def test_a_second_table_gives_groups_of_genes_in_rows(visit, texts, address, sentence):
    genes, about = genes_and_samples()
    page = upload(visit, genes, "genes.csv", rows="1")
    page.toggle(key="widget_rows").set_value(True).run()
    assert "begin in 2 ways: “" in texts(page) and page.metric[4].value == "none"
    slot = next(one for one in page.file_uploader if "second table" in one.label)
    slot.upload("wrong.csv", b"who,kind\nx1,a\nx2,b\n")
    assert "No sample of the table is in the annotation" in sentence(page.run())
    page = visit(PAGE, **{**address(page), "source": "upload"})
    next(one for one in page.file_uploader if "second table" in one.label).upload("about.csv", about)
    page.run()
    assert not page.error and page.metric[4].value == "2" and "about" in address(page)
    assert "The annotation has all 12 samples" in texts(page)
    assert [*page.selectbox(key="widget_label").options] == ["beginning of the names", "sex", "batch"]
    page.selectbox(key="widget_label").select("batch").run()
    assert page.metric[4].value == "3" and address(page)["label"] == "batch"
    again = visit(PAGE, **address(page))
    assert again.metric[4].value == "3" and "3 groups by “batch”" in texts(again)
    again.button(key="about_out").click().run()
    assert "about" not in address(again) and again.metric[4].value == "none"
    again.button(key="do_label_beginning of the names").click().run()
    assert again.metric[4].value == "2"


@pytest.mark.parametrize("first", [0, 1])
def test_two_files_together_are_a_table_and_its_groups(visit, texts, address, first):
    genes, about = genes_and_samples()
    files = [("genes.csv", genes), ("about.csv", about)]
    page = visit(PAGE, source="upload")
    page.file_uploader[0].set_value([(*files[first], "text/csv"), (*files[1 - first], "text/csv")]).run()
    assert not page.error and not page.warning and "about" in address(page)
    assert "Genes in rows: 12 samples, 40 genes." in texts(page) and "in 2 groups" in texts(page)


def test_a_file_dropped_after_its_table_is_its_groups(visit, texts, address):
    genes, about = genes_and_samples()
    page = upload(visit, genes, "genes.csv")
    table = address(page)["upload"]
    page.file_uploader[0].upload("about.csv", about)
    page.run()
    assert not page.error and not page.warning and address(page)["upload"] == table
    assert "gives groups of these samples." in texts(page) and page.metric[4].value == "2"
    page.button(key="about_alone").click().run()
    assert address(page)["upload"] != table and "about" not in address(page)


def test_another_table_is_no_groups_of_the_one_in_use(visit, address):
    genes, _ = genes_and_samples()
    page = upload(visit, genes, "genes.csv")
    table = address(page)["upload"]
    page.file_uploader[0].upload(
        "small.csv", csv(np.random.default_rng(0).normal(size=(6, 3)).round(2), "xyz")
    )
    page.run()
    assert not page.error and address(page)["upload"] != table and "about" not in address(page)


def test_spectra_are_drawn_as_lines(visit, texts):
    rows = np.random.default_rng(0).normal(size=(12, 30)).cumsum(axis=1).round(3)
    page = upload(visit, csv(rows, [str(900 + 4 * j) for j in range(30)]), "spectra.csv")
    drawn = [one.proto.body for one in page.get("html") if "as lines" in one.proto.body]
    (svg,) = (base64.b64decode(one.partition("base64,")[2].partition('"')[0]) for one in drawn)
    assert svg.count(b"<polyline") == 10
    assert "Standardised" not in texts(page), "the points of an axis have one scale"
    assert "The rows were read as spectra" in texts(page)


def test_an_example_of_genes_comes_with_its_samples(visit, texts):
    page = visit(PAGE, source="upload")
    page.button(key="example_genes").click().run()
    assert not page.error and (page.metric[0].value, page.metric[1].value) == ("38", "5,000")
    assert "groups by “leukemia”" in texts(page)
    assert {"leukemia", "AML or ALL"} <= {*page.selectbox(key="widget_label").options}


def test_alike_scales_are_the_reason_that_a_table_is_not_standardised(visit, address, texts):
    rows = np.random.default_rng(0).normal(0, [1, 2, 3], (30, 3)).round(3).tolist()
    page = upload(visit, csv(rows, ["height", "weight", "steps"]), "alike.csv")
    assert not page.error and "scale" not in address(page)
    assert "Not standardised, because the scales are similar." in texts(page)
    page.button(key="do_scale").click().run()
    assert address(page)["scale"] == "1" and not page.error


def test_genes_are_named_by_their_symbols(visit):
    counts = np.random.default_rng(0).poisson(np.geomspace(5, 5000, 30)[:, None], (30, 8))
    rows = [[f"ENSG{i:011d}", f"SYM{i}", *row] for i, row in enumerate(counts)]
    page = upload(visit, csv(rows, ["gene_id", "gene_name", *(f"s{i}" for i in range(8))]), "counts.csv")
    press(page, "Name the rows by gene_name")
    assert not page.error and "SYM0" in page.dataframe[0].value.columns


def test_a_survey_is_standardised_until_that_is_changed_and_constants_are_no_label(visit, address, texts):
    rng = np.random.default_rng(0)
    towns = ["Bern", "Basel", "Genf"] * 10
    rows = [[town, "same for all", *rng.normal(0, [1, 9, 9e3, 40])] for town in towns]
    page = upload(visit, csv(rows, ["city", "comment", "height", "weight", "income", "steps"]), "survey.csv")
    assert not page.error and "30 samples and 4 features" in texts(page)
    offers = [button.key for button in page.button if (button.key or "").startswith(("do_", "turn_"))]
    assert address(page)["scale"] == "1" and "Standardised, because the scales differ." in texts(page)
    assert {"do_unscale"} < set(offers) and "do_scale" not in offers
    page.button(key="do_unscale").click().run()
    assert "scale" not in address(page) and not page.error
    assert "do_scale" in {button.key for button in page.button}


def test_missing_values_say_what_they_cost_and_leave_no_dead_end(visit, address, sentence, texts):
    X = np.random.default_rng(0).normal(size=(24, 200)).round(2).astype(object)
    for j in range(25):
        X[j % 24, 8 * j] = ""  # every sample misses something
    page = upload(visit, csv(X.tolist(), [f"g{j}" for j in range(200)]), "gaps.csv")
    assert not page.error and page.metric[1].value == "175", "the genes with gaps are left out"
    page = visit(PAGE, **{**address(page), "gaps": "refuse"})
    assert "25 are missing" in sentence(page) and "option" not in sentence(page)
    assert "fill in what is missing, or choose one of these ways." in sentence(page).replace("&#46;", ".")
    labels = [button.label for button in page.button if (button.key or "").startswith("do_missing")]
    assert [html.unescape(label)[:28] for label in labels] == [
        "Leave out 25 features of 200",
        "Put in means, which invents ",
    ]
    stuck = visit(PAGE, **{**address(page), "gaps": "samples"})
    assert "would leave 0 of 24" in sentence(stuck) and len(stuck.warning) == 1
    led = visit("pages/sweep.py", **address(page))
    assert "or choose on the page Data how the file is read" in sentence(led)
    assert "25 are missing" in sentence(led) and any(
        "mend" in one.proto.label for one in led.get("page_link")
    )
    assert not any("mend" in one.proto.label for one in page.get("page_link")), "this page has the choices"
    press(stuck, "Leave out 25 features")
    assert not stuck.error and stuck.metric[1].value == "175"


def test_photographs_are_converted_and_the_page_says_so(visit, texts, address):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for i, (form, size) in enumerate([("JPEG", (64, 48)), ("WEBP", (30, 50)), ("PNG", (20, 20))] * 2):
            picture = io.BytesIO()
            Image.new("RGB", size, (40 * i, 0, 90)).save(picture, form)
            archive.writestr(f"{i}.{form.lower()}", picture.getvalue())
        archive.writestr("broken.jpg", b"nothing")
    page = upload(visit, stream.getvalue(), "photos.zip")
    assert "made grey, and its middle square shrunk to 64 x 64" in texts(page) and "broken" in texts(page)
    assert not page.error and (page.metric[0].value, page.metric[1].value) == ("6", "4,096")
    assert address(page)["pixels"] == "64" and "6 images of 64 × 64 pixels" in texts(page)
    page = press(page, "32 x 32")
    assert address(page)["pixels"] == "32" and "6 images of 32 × 32 pixels" in texts(page)


def test_photographs_of_one_size_are_shrunk_until_that_is_changed(visit, texts, address):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for i in range(6):
            picture = io.BytesIO()
            Image.effect_noise((320, 240), 20 + i).convert("RGB").save(picture, "JPEG")
            archive.writestr(f"{i}.jpg", picture.getvalue())
    page = upload(visit, stream.getvalue(), "photos.zip")
    assert address(page)["pixels"] == "64" and "6 images of 64 × 64 pixels" in texts(page)
    assert "its middle square shrunk to 64 x 64 pixels" in texts(page)
    page = press(page, "As they are")
    assert "pixels" not in address(page) and "6 images of 240 × 320 pixels" in texts(page)
    assert "Images of 76,800 pixels take minutes" in texts(page)
    page = press(page, "128 x 128")
    assert "6 images of 128 × 128 pixels" in texts(page)


def test_an_encoding_is_chosen_by_the_words_that_it_makes_and_turned_back(visit, table, texts, address):
    text = csv(table, ["Größe", "Länge", "c", "d", "e"]).decode()
    page = upload(visit, text.encode("mac_roman"))
    assert "it was read as mac" in texts(page) and "Größe" in page.dataframe[0].value.columns
    assert not any(one.label.startswith("Größe") for one in page.button), "it is read so already"
    page = press(page, "Grš§e LŠnge (Western Europe")
    assert address(page)["encoding"] == "cp1252" and "The text was read as cp1252" in texts(page)
    assert "Grš§e" in page.dataframe[0].value.columns
    page = press(page, "Größe Länge (old Mac")
    assert address(page)["encoding"] == "mac_roman" and "Größe" in page.dataframe[0].value.columns
    page = press(page, "As it was found")
    assert "encoding" not in address(page) and "it was read as mac" in texts(page)


def test_what_is_standardised_stays_so_when_another_decision_is_turned(visit, table, address):
    rows = [f"{1000 + i},{round(1000 * row[0])},{row[1]},{row[2]}" for i, row in enumerate(table)]
    page = upload(visit, "\n".join(["id,Größe,b,c", *rows]).encode("cp1252"))
    assert address(page)["scale"] == "1"
    page = press(page, "Gr")
    assert address(page)["scale"] == "1" and "encoding" in address(page)
    key = next(one.key for one in page.button if one.key.startswith("turn_id_column"))
    page = page.button(key=key).click().run()
    assert address(page)["scale"] == "1" and address(page)["id"] == "(none)"


def test_a_button_that_makes_a_file_unreadable_is_undone(visit, texts, address):
    files = [(*file, "text/csv") for file in zip(("g.csv", "about.csv"), genes_and_samples(), strict=True)]
    page = visit(PAGE, source="upload")
    page.file_uploader[0].set_value(files)
    page = page.run()
    before = address(page)
    assert "in 2 groups" in texts(page) and "about" in before
    page = press(page, "Open it alone")
    assert "At least two samples and two features are needed" in texts(page) and not page.error
    page = press(page, "Read it as before")
    assert address(page) == before and "in 2 groups" in texts(page)
    assert "Read it as before" not in [one.label for one in page.button]


def test_an_address_that_somebody_edited_counts_the_words_all_the_same(visit, address):
    page = upload(visit, "\n".join(TEXTS).encode(), "letters.txt")
    odd = {
        "stop": "latin",
        "weigh": "x",
        "split": "x",
        "most": "1",
        "pixels": "9999",
        "high": "101",
        "vocab": "abc",
    }
    again = visit(PAGE, **{**address(page), **odd})
    assert not again.exception and "stop" not in address(again) and "most" not in address(again)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (["5"] * 4, "Every feature is constant: there is no variance to explain."),
        (["1e300", "-2e300", "3e299", "1e299"], "their variances do not fit float64"),
        (["1e-300", "-2e-300", "3e-300", "1e-299"], "their variances do not fit float64"),
    ],
)
def test_data_without_a_variance_are_refused_on_every_page_in_one_sentence(
    visit, address, texts, sentence, column, said
):
    page = upload(visit, csv([[one, one, one] for one in column], header="abc"))
    assert said in texts(page) and not page.exception
    assert not [error.value for error in page.error]
    given = {name: value for name, value in address(page).items() if name != "source"}
    for path in ("sweep", "components", "spannogram"):
        assert said in html.unescape(sentence(visit(f"pages/{path}.py", **given)))
    if "float64" in said:
        page.button(key="do_scale").click().run()
        assert said not in texts(page)
        assert not visit("pages/spannogram.py", **address(page)).error, "standardised, they have variances"


def test_many_files_are_folded_below_the_one_in_use(visit, address):
    page, several = visit(PAGE, source="upload"), []
    for number in range(5):
        page.file_uploader[0].upload(f"t{number}.csv", csv([[number, 2], [3, 4], [5, 7]], header="ab"))
        page = page.run()
        several.append(address(page)["upload"][:8])
    page.button(key=f"choose_{several[0]}").click().run()
    (fold,) = [one for one in page.expander if one.label == "2 more files"]
    inside = {button.key for button in fold.button}
    listed = [button.key for button in page.button if button.key.startswith("choose_")]
    assert listed[0] == f"choose_{several[0]}" and len(listed) == 5
    assert len(inside) == 4 and listed[0] not in inside


@pytest.mark.parametrize("path", [PAGE, "pages/sweep.py"])
def test_constant_features_are_left_out_in_one_click_where_they_cannot_be_standardised(
    visit, address, texts, path
):
    rows = [[1, 5, 3, 7], [2, 5, 1, 7], [4, 5, 9, 7], [3, 5, 2, 7]]
    page = upload(visit, csv(rows, header="abcd"))
    given = {name: value for name, value in address(page).items() if name != "source" or path == PAGE}
    page = visit(path, scale=1, **given)
    assert "2 features take one value only, the first is b, and cannot be standardised" in texts(page)
    assert "Nothing has run yet" not in texts(page)
    page.button(key="drop_constant").click().run()
    assert "and cannot be standardised" not in texts(page) and not page.error and not page.exception
    assert address(page)["drop"] == "1" and address(page)["scale"] == "1"


def test_a_column_of_weights_is_taken_out_and_said(visit, texts, table, address, sentence):
    weights = [1, 2, 0, 1, 3, 1, 1, 0, 2]
    raw = csv(np.column_stack([weights, table]), ["freq", *"abcde"])
    page = visit(PAGE, **address(upload(visit, raw)), weight="freq")
    assert not page.error and (page.metric[0].value, page.metric[1].value) == ("7", "5")
    assert "holds the weights of the samples" in texts(page) and "2 samples were left out" in texts(page)
    assert any(one.label == "Column with weights" for one in page.text_input)
    spec = DataSpec(upload=address(page)["upload"], file="table.csv", weight_column="freq")
    found = find(spec, address(page)["w"])
    assert found.given["sample_weight"].tolist() == [1, 2, 1, 3, 1, 1, 2]
    problem = open_data.problem(found, True, True, False)
    expected = nspca.Problem.from_data(table, 1, sample_weight=weights)
    assert problem.covariance.weights == expected.covariance.weights
    wrong = visit(PAGE, **{**address(page), "weight": "a"})
    assert "Weights are numbers of at least 0" in sentence(wrong)


def test_a_total_is_left_out_until_it_is_kept(visit, address, texts):
    X = np.random.default_rng(0).uniform(1, 9, (12, 4)).round(2)
    rows = [[f"R{i}", *row] for i, row in enumerate(X)]
    page = upload(visit, csv([*rows, ["Total", *X.sum(axis=0)]], ["region", *"abcd"]))
    assert page.metric[0].value == "12" and "“Total”, is the sum of the others and was left out" in texts(
        page
    )
    page = press(page, "change")
    assert not page.error and page.metric[0].value == "13" and address(page)["norows"] == "(none)"
    page = press(page, "Leave this row out")
    assert not page.error and page.metric[0].value == "12"


def test_class_codes_are_offered_as_labels_once(visit):
    rows = [[i % 3, *row] for i, row in enumerate(np.random.default_rng(0).normal(size=(24, 5)))]
    page = upload(visit, csv(rows, ["class", *"abcde"]))
    assert [button.label for button in page.button].count("Use as labels") == 1


def test_a_code_of_missing_values_comes_first_and_nothing_is_standardised(visit, address, texts):
    X = np.random.default_rng(0).normal(size=(24, 5)) * [1, 9, 90, 1, 1]
    X[3:6, 1] = -9999
    page = upload(visit, csv([[f"s{i}", *row] for i, row in enumerate(X)], ["id", *"abcde"]))
    assert "scale" not in address(page) and "the answer will be about these numbers" in texts(page)
    turns = [button.label for button in page.button if (button.key or "").startswith(("do_", "turn_"))]
    assert html.unescape(turns[0]) == "-9999 means a missing value"


def test_the_column_and_the_encoding_of_texts_are_typed(visit, address):
    lines = [f"{TEXTS[i]},погода {['дождь', 'снег'][i % 2]} город улица дом" for i in range(len(TEXTS))]
    page = upload(visit, "\n".join(["first,second", *lines]).encode("koi8_r"))
    page = press(page, "Count their words") if "words" not in address(page) else page
    (field,) = (one for one in page.text_input if one.label == "Column with the texts")
    page = field.set_value("second").run()
    assert address(page)["text"] == "second" and "дождь" in page.dataframe[0].value.columns
    (field,) = (one for one in page.text_input if one.label == "Encoding")
    page = field.set_value("cp1251").run()
    assert address(page)["encoding"] == "cp1251" and "дождь" not in page.dataframe[0].value.columns
