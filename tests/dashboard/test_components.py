"""The page Components for images, texts and other tables: from the run to the answer and its files."""

import io
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from starlette.applications import Starlette
from starlette.testclient import TestClient

import nspca
from nspca.dashboard.app import server
from nspca.dashboard.app.wording import nouns_of
from nspca.dashboard.joint import form, take_home, topics
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.views.component import explained_names
from nspca.data.export import frame_to_csv
from nspca.jobs import engine
from nspca.presentation.numerals import format_change
from nspca.progress import Event, silent
from nspca.specs import DataSpec
from nspca.specs.components import one_by_one
from tests.dashboard.figures import copied
from tests.patience import wait_for

PAGE = "pages/components.py"
HOW = {"by": "joint,tpower", "proof": "none"}
PARTS = {"sample": "digits", "r": 3, "size": "6, 6, 4", **HOW}
WORDS = {"sample": "state-of-the-union", "r": 3, "size": 6, **HOW}
TABLE = {"sample": "coffee", "r": 2, "size": 4, **HOW}
SHORT = PARTS


@pytest.fixture
def known_parts(reopened):
    return reopened(PAGE, **PARTS)


@pytest.fixture
def known_topics(reopened, stand_ins):
    return reopened(PAGE, **WORDS)


def methods_of(page):
    """Return the page with the section of all methods."""
    return page.segmented_control(key="widget_look").set_value("methods").run()


def lists_of(page) -> list[str]:
    return [part.proto.body for part in page.get("html") if "nspca-topics" in part.proto.body]


@pytest.mark.parametrize(
    ("sample", "title", "button"),
    [
        ("orl-faces", "Which parts are images made of?", "Find 5 parts"),
        ("state-of-the-union", "What are the texts about?", "Find 8 topics"),
        ("all-aml", "What belongs together?", "Find 5 components"),
        ("pitprops", "What belongs together?", "Find 3 components"),
    ],
)
def test_title_and_nouns_follow_the_data(visit, stand_ins, sample, title, button):
    page = visit(PAGE, sample=sample)
    assert not page.exception and not page.error and "components" not in page.query_params
    assert page.title[0].value == title and page.button(key="run").label.startswith(f"{button} (")
    assert bool([one for one in page.toggle if one.key == "widget_raw"]) is (sample == "state-of-the-union")


@pytest.mark.parametrize(
    ("asked", "says", "alone"),
    [
        (PARTS, "## 3 parts of 6, 6 and 4 pixels. In each, the pixels", "3 components by"),
        pytest.param(WORDS, "## 3 topics of 6 words. In each,", "", marks=pytest.mark.visit),
        (
            TABLE,
            "## 2 components of 4 bands. In each,",
            "2 components over band",
        ),
    ],
)
def test_from_run_to_answer_and_back_by_its_address(
    visit, reopened, stand_ins, texts, alts, address, asked, says, alone
):
    page = reopened(PAGE, **asked)
    assert not page.exception and not page.error
    assert says in texts(page) and "How much better another choice could be is not proved yet." in texts(page)
    assert sum(alt.startswith(alone) for alt in alts(page)) == 1 if alone else len(lists_of(page)) == 1
    for section in ("many", "again", "methods"):
        page.segmented_control(key="widget_look").set_value(section).run()
        assert not page.exception and not page.error, section
    table = page.dataframe[0].value
    assert table["method"].tolist() == ["joint", "tpower"] and not table["shared"].any()
    again = visit(PAGE, **address(page))
    assert not again.error and texts(again) == texts(page)
    other = visit(PAGE, **{**address(page), "w": "another"})
    assert len(other.error) == 1 and not other.exception


@pytest.mark.parametrize(
    ("page", "query", "there"),
    [
        ("parts", "", "sample=orl-faces"),
        ("parts", "pictures=digits&r=2&parts=a", "sample=digits&r=2&components=a"),
        ("topics", "upload=u&texts=mine&topic=3", "upload=u&component=3"),
    ],
)
def test_old_addresses_lead_to_this_page(page, query, there):
    with TestClient(Starlette(routes=server.options()["routes"])) as client:
        answer = client.get(f"/{page}?{query}", follow_redirects=False)
    assert answer.headers["location"] == f"/components?{there}"


@pytest.mark.parametrize("extra", [{"image_shape": np.array([4, 5])}, {"axis": np.arange(20.0)}])
def test_pages_open_on_a_sparse_file_of_images_or_spectra(visit, address, texts, extra):
    rng = np.random.default_rng(0)
    X, stream = sp.csr_array(rng.random((30, 20)) * (rng.random((30, 20)) < 0.5)), io.BytesIO()
    names = {"format": np.array("csr"), "shape": np.array(X.shape)}
    np.savez(stream, data=X.data, indices=X.indices, indptr=X.indptr, **names, **extra)
    page = visit("pages/data.py", source="upload")
    page.file_uploader[0].upload("made.npz", stream.getvalue())
    page.run()
    where = {name: address(page)[name] for name in ("w", "upload")}
    for path in ("pages/data.py", "pages/sweep.py", PAGE):
        opened = visit(path, source="upload", proof="none", **where)
        assert not opened.exception and not opened.error, path
    opened.button(key="run").click().run()
    wait_for(lambda: engine().status(address(opened)["components"]).ended)
    opened.run()
    assert not opened.exception and not opened.error
    assert bool(opened.slider) is ("image_shape" in extra)


@pytest.mark.visit
def test_every_method_that_finds_components_together_counts_as_at_once(visit, ended, texts):
    page = visit(PAGE, **{**SHORT, "by": "coordinate,tpower"})
    page.button(key="run").click().run()
    page = methods_of(ended(page))
    assert not page.exception and not page.error
    said, table = texts(page), page.dataframe[0].value.set_index("method")
    assert table["found"].to_dict() == {"coordinate": "at once", "tpower": "one by one"}
    more = 100 * (table.loc["coordinate", "explained"] / table.loc["tpower", "explained"] - 1)
    assert (
        f"**coordinate** looks for all parts together and explains {abs(more):.1f} % "
        f"{'more' if more >= 0 else 'less'} than **tpower**" in said
    )
    assert table.loc["tpower", "gain"] == f"{'−' if more < 0 else ''}{abs(more):.1f} %"


def test_the_numbers_are_those_of_the_package(known_parts):
    known_parts = methods_of(known_parts)
    data = nspca.load_sample("digits")
    problem = nspca.Problem.from_data(data.X, (6, 6, 4))
    table = known_parts.dataframe[0].value.set_index("method")
    result = one_by_one(problem, "tpower", {}, 0, silent)
    assert np.isclose(table.loc["tpower", "explained"], result.value)
    gained = table.loc["joint", "explained"] / result.value - 1
    assert table.loc["tpower", "gain"] == f"{'−' if gained < 0 else ''}{format_change(gained)}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"size": "40"}, "together at most 64, the number of features, got 120 in all"),
        ({"r": "21"}, "between 1 and 20"),
    ],
)
def test_bad_sizes_are_one_sentence(visit, sentence, change, said):
    page = visit(PAGE, **{**SHORT, **change})
    assert said in sentence(page)
    assert page.text_input(key="widget_size").value == change.get("size", SHORT["size"])


def test_an_image_grows_part_by_part_and_more_is_explained_each_time(known_parts, texts, alts):
    assert [button.label for button in known_parts.get("download_button")] == [
        "Parts, CSV",
        "Parts, NPZ",
        "Scores, CSV",
        "Methods, CSV",
        "JSON",
    ]
    grown = next(alt for alt in alts(known_parts) if alt.startswith("Images side by side: mean, "))
    explained = [float(part.split(": ")[1].removesuffix(" %")) for part in grown.split(", ")[1:-1]]
    assert len(explained) == 3 and explained == sorted(explained)
    assert any("in one image: 16 of 64 pixels are in one of them" in alt for alt in alts(known_parts))


def test_the_documents_that_load_most_have_the_words_of_the_topic_marked(known_topics):
    data = nspca.load_sample("state-of-the-union")
    (body,) = [part.proto.body for part in known_topics.get("html") if "nspca-document" in part.proto.body]
    titles = re.findall(r"<b>([^<]+)</b>", body)
    assert len(titles) == topics.TEXTS and " · " in titles[0]
    words = copied(known_topics)[0].splitlines()
    row = data.X[[data.sample_names.index(titles[0].partition(" · ")[0])]].toarray().ravel()
    first = body.split("</div>")[0]
    pairs = re.findall(r'<mark data-word="(\w+)">\w+</mark> (\d+)', first)
    assert pairs and all(row[data.feature_names.index(word)] == float(count) for word, count in pairs)
    assert {word for word, _ in pairs} <= set(words)
    known_topics.query_params["component"] = "2"
    known_topics.run()
    assert not known_topics.exception
    assert body not in [part.proto.body for part in known_topics.get("html")]


@pytest.mark.visit
def test_a_topic_is_named_and_the_name_stays_and_goes_home(known_topics, visit, address, texts):
    known_topics.query_params["component"] = "2"
    known_topics.run()
    known_topics.text_input(key="name_joint_2").set_value("  sea | ships ").run()
    assert (
        address(known_topics)["named"] == "joint:2=sea / ships"
        and "2 sea / ships ·" in lists_of(known_topics)[0]
    )
    again = visit(PAGE, **address(known_topics))
    assert not again.error and "### Topic 2: sea / ships" in texts(again)
    problem = nspca.Problem.from_data(nspca.load_sample("state-of-the-union").X, (6, 6, 6), center=False)
    data = nspca.load_sample("state-of-the-union")
    made = SimpleNamespace(of=SimpleNamespace(dataset=data), nouns=nouns_of(data))
    made.ordered = {"joint": one_by_one(problem, "tpower", {}, 0, silent)}
    frame = take_home.weights(made, {("joint", 2): "=sea"})
    assert (
        set(frame["name"][frame["topic"] == 2]) == {"=sea"} and not frame["name"][frame["topic"] != 2].any()
    )
    assert b"'=sea" in frame_to_csv(frame)
    again.text_input(key="name_joint_2").set_value("").run()
    assert "named" not in address(again) and not again.error


def test_what_is_no_name_in_an_address_is_left_out(visit, address, known_topics):
    page = visit(
        PAGE, **{**address(known_topics), "named": "joint:2=good|nonsense|joint:x=bad|:1=|joint:99999=far"}
    )
    assert not page.error and not page.exception and "2 good ·" in lists_of(page)[0]


@pytest.mark.visit
def test_groups_are_compared_on_the_page(reopened, texts, ended):
    page = reopened(PAGE, **PARTS)
    assert not page.exception and not page.error
    assert "differs most between the 10 groups" in texts(page)
    page.button(key="groups").click().run()
    page = ended(page)
    assert not page.exception and not page.error
    assert "p = " in texts(page)


def test_a_covariance_has_no_section_about_samples(visit, reopened, address, alts):
    page = reopened(PAGE, sample="pitprops")
    assert not page.exception and not page.error
    assert page.segmented_control(key="widget_look").options == ["The only one?", "All methods"]
    assert any(alt.startswith("Correlations of the 9 features") for alt in alts(page))
    again = visit(PAGE, **{**address(page), "look": "samples"})
    assert not again.exception and not again.error
    assert again.segmented_control(key="widget_look").value is None


def test_short_names_of_a_sample_are_explained_and_those_of_other_data_are_not(reopened):
    page = reopened(PAGE, sample="pitprops")
    (body,) = [part.proto.body for part in page.get("html") if "nspca-topics" in part.proto.body]
    assert "<span>ringbut: annual rings at the base</span>" in body
    pitprops = nspca.load_sample("pitprops")
    assert set(nspca.data.SAMPLES["pitprops"].meanings) == set(pitprops.feature_names)
    mine = Chosen(pitprops, DataSpec(sample="coffee"), "")
    assert list(explained_names(mine)) == list(pitprops.feature_names)


def test_the_page_is_there_with_the_answer_while_its_proof_is_at_work(reopened, texts, alts, monkeypatch):
    page = reopened(PAGE, **TABLE)
    run = page.query_params["components"]
    done = engine().status(run if isinstance(run, str) else run[0])
    now = replace(
        done, state="running", finished=None, event=Event("dual", lower=1.0, payload={"share": 0.8})
    )
    monkeypatch.setattr(type(engine()), "status", lambda self, run_id: now)
    page.run()
    assert not page.exception and not page.error and page.button(key="cancel")
    assert "2 components of 4 bands." in texts(page)
    assert any(alt.startswith("2 components over band") for alt in alts(page))
    assert any("Scores" in one.label for one in page.get("download_button"))
    assert any(alt.startswith("Map of samples") for alt in alts(page)) and "Draw a lasso" in texts(page)


def test_samples_of_a_choice_are_left_out_by_their_number_in_the_table(monkeypatch):
    wanted = {}
    monkeypatch.setattr(form, "_want", lambda answer, **values: wanted.update(values))
    of = SimpleNamespace(reference=DataSpec(samples_only=(9, 4, 4)), dataset=SimpleNamespace(X=np.eye(2)))
    form.with_samples(SimpleNamespace(of=of), [0], True)
    assert wanted == {"these": [9]}, "the shown samples are in the order of the table"
    of.reference = DataSpec(samples_without=(1,))
    form.with_samples(SimpleNamespace(of=of), [1], True)
    assert wanted["less"] == [1, 2]
