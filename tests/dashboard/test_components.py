"""Components: a page for every table, samples on a map, groups, how many, and what is taken home."""

import csv
import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.joint import (
    documents,
    groups,
    headline,
    how_many,
    methods,
    samples,
    subject,
    take_home,
)
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.open_data import Chosen
from nspca.data import Dataset
from nspca.jobs import engine
from nspca.presentation.numerals import format_value
from nspca.progress import Event
from nspca.specs import ComponentsSpec, DataSpec
from nspca.specs.rows import Climbed
from tests.dashboard.figures import copied
from tests.patience import wait_for

PAGE = "pages/components.py"
SHORT = {"table": "coffee", "r": 2, "size": 4, "by": "joint,tpower", "proof": "none"}


def table(labels=None, m=30, n=8, **more) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    X[:, :3] += 3 * (np.arange(m) % 2)[:, None]
    names = tuple(f"gene {j}" for j in range(n))
    return Dataset("cells", X, names, tuple(f"cell {i}" for i in range(m)), labels=labels, **more)


def outcome(data: Dataset, sizes=(3, 2), method="joint", about=subject.COMPONENTS, **how) -> Outcome:
    asked = ComponentsSpec(data=DataSpec(sample="coffee"), sizes=sizes, methods=(method,), effort=None, **how)
    results = {name: one for (name, _), one in asked.run(X=data.X).results.items()}
    problem = nspca.Problem.from_data(data.X, sizes, asked.nonneg)
    return Outcome(about, Chosen(data, asked.data, ""), asked, problem, results, "run", live=False)


# --- which data a page shows -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "address", "leads"),
    [
        ("pages/parts.py", {"sample": "coffee"}, "Components"),
        ("pages/parts.py", {"sample": "state-of-the-union"}, "Topics"),
        ("pages/topics.py", {"sample": "digits"}, "Parts"),
        ("pages/topics.py", {"texts": "all-aml"}, "Components"),
        (PAGE, {"sample": "digits"}, "Parts"),
        (PAGE, {"table": "state-of-the-union"}, "Topics"),
    ],
)
def test_other_data_are_not_replaced_but_led_to_their_page(visit, stand_ins, texts, path, address, leads):
    page = visit(path, **address)
    assert not page.exception and not page.error
    assert f". The page {leads} " in texts(page)
    chosen = next(box for box in page.selectbox if box.label == "Data")
    assert chosen.value is None and not any(button.key == "run" for button in page.button)


def test_the_link_carries_the_data_and_no_run_of_others(visit, stand_ins):
    page = visit("pages/topics.py", texts="all-aml", components="gone", topics="old")
    (link,) = [
        one for one in page.get("page_link") if "Components" in one.proto.label and "Open" in one.proto.label
    ]
    query = dict(part.split("=") for part in link.proto.query_string.lstrip("?").split("&"))
    assert query["table"] == "all-aml" and "components" not in query


def test_a_sample_chosen_on_the_page_wins(visit, stand_ins, texts):
    page = visit("pages/parts.py", sample="coffee", pictures="digits")
    assert "Handwritten digits" in texts(page) and page.button(key="run")


def test_every_sample_has_one_page():
    names = [name for about in subject.SUBJECTS for name in about.samples]
    assert sorted(names) == sorted(nspca.data.present_samples())
    for about in subject.SUBJECTS:
        assert about.first in about.samples


def test_features_are_called_what_they_are():
    noun = wording.noun
    assert noun(table()) == "gene" and noun(nspca.load_sample("coffee")) == "wavelength"
    assert noun(nspca.load_sample("pitprops")) == "feature" and noun(nspca.load_sample("all-aml")) == "gene"
    probes = Dataset("t", np.eye(3), ("1007_s_at", "1053_at", "ENSG00000141510"), ("a", "b", "c"))
    assert noun(probes) == "gene"
    for names, one in (
        (("TP53", "BRCA1", "ACTB", "HLA-DRA"), "gene"),
        (("ALCOHOL", "ASH", "HUE"), "feature"),
    ):
        few = Dataset("t", np.eye(len(names)), names, names)
        assert noun(few) == one
    assert subject.kind_of(nspca.load_sample("digits")) == "image"
    assert subject.kind_of(nspca.load_sample("pitprops")) == "table"


# --- the answer -------------------------------------------------------------------------------------


def test_from_run_to_components(visit, stand_ins, texts, alts):
    page = visit(PAGE, **SHORT)
    page.button(key="run").click().run()
    run = page.query_params["components"]
    wait_for(lambda: engine().status(run if isinstance(run, str) else run[0]).ended)
    page.run()
    assert not page.exception and not page.error
    assert "2 components, each of 4 wavelengths, capture" in texts(page)
    assert any(alt.startswith("2 components over band") for alt in alts(page))
    assert 4 in [len(text.splitlines()) for text in copied(page)]
    page.segmented_control(key="widget_look").set_value("samples").run()
    assert not page.exception and not page.error
    assert page.get("plotly_chart") and "Draw a lasso" in texts(page)
    page.segmented_control(key="widget_look").set_value("many").run()
    page.button(key="many").click().run()
    assert not page.exception and not page.error


def test_all_at_once_explains_as_much_or_says_how_much_more():
    found = outcome(table())
    result = found.results["joint"]
    same = replace(found, results={"joint": result, "cone": result})
    value = format_value(result.value)
    assert "explains as much as **cone**" in methods.gain_sentence(same)
    assert methods.gain_sentence(same).endswith(f"({value} in the units of the data).")
    less = replace(result, values=0.9994 * result.values)
    said = methods.gain_sentence(replace(found, results={"joint": result, "cone": less}))
    assert "explains 0.06 % more than **cone**" in said and f"({value} and " in said


@pytest.mark.parametrize(
    ("change", "said"), [(0.06, "6.0 %"), (6e-4, "0.06 %"), (-1e-7, "−1 × 10⁻⁵ %"), (2e-16, "0.0 %")]
)
def test_a_tiny_gain_is_printed_as_other_small_numbers(monkeypatch, change, said):
    found = outcome(table())
    best = found.results["joint"]
    other = replace(best, values=best.values / (1 + change))
    drawn = []
    monkeypatch.setattr(methods.tables, "show", lambda rows, **_: drawn.append(rows))
    methods._table(replace(found, results={"joint": best, "cone": other}))
    assert list(drawn[0]["gain"]) == ["0.0 %", said]


def test_a_tiny_climb_is_no_zero(monkeypatch):
    said = []
    monkeypatch.setattr(headline.st, "markdown", said.append)
    monkeypatch.setattr(headline.figures, "draw", lambda *_, **__: None)
    headline.climb(
        [Climbed("joint", 0.0, 2.0), Climbed("joint", 1.0, 2.0 + 2e-7)], True, subject.COMPONENTS, ""
    )
    assert "**1 × 10⁻⁵ % more** than its first answer so far" in said[0]


def test_the_headline_says_what_is_explained_and_the_proved_limit():
    data = table()
    found = outcome(data)
    result = found.results["joint"]
    first, second = headline.sentences(found)
    share = 100 * result.value / found.problem.total_variance
    assert first.startswith("2 components of 3 and 2 features capture ") and "not proved" in second
    assert 0 <= share - float(first.split("capture ")[1].split(" %")[0]) < 1
    problem = nspca.Problem.from_data(data.X, (3, 2))
    proved = result.with_certificate(nspca.certify(problem, result, components=2, effort="fast"))
    known = Outcome(found.about, found.of, found.asked, problem, {"joint": proved}, "run", live=False)
    first, second = headline.sentences(known)
    limit = 100 * proved.certificate.upper / problem.total_variance
    said = float(second.split("more than ")[1].split(" %")[0]) if "more than" in second else None
    assert said is None or limit <= said <= limit + 1
    assert "with nonnegative weights and without a feature in common" in second and "proved" in second.lower()


def test_a_limit_is_stated_while_the_proof_is_at_work():
    """The limit of a run in progress says "so far", and never that nothing better exists."""
    found = outcome(table())
    value, total = found.results["joint"].value, found.problem.total_variance
    first, second = headline.sentences(replace(found, live=True))
    assert first.endswith(" so far.") and not second
    first, second = headline.sentences(replace(found, live=True, upper=1.25 * value))
    assert first.endswith(" so far.") and second.endswith("These are at least 80.0 % of the best possible.")
    limit = float(second.split("more than ")[1].split(" %")[0])
    assert second.startswith(":material/verified: Proved so far: no 2 components of 3 and 2 features,")
    assert 125 * value / total <= limit <= 125 * value / total + 0.1
    one = replace(found, asked=found.asked.but(sizes=(3,)), live=True, upper=1.25 * value)
    assert "Proved so far: no component of 3 features, with" in headline.sentences(one)[1]
    closed = headline.sentences(replace(found, live=True, upper=value))[1]
    assert "at least 100 % of the best possible" in closed and "This is proved" not in closed


@pytest.mark.parametrize(
    ("reached", "possible", "said"),
    [
        (0.4321, 0.4499, ("43.2 %", "45.0 %")),
        (0.4329, 0.4401, ("43.29 %", "44.01 %")),  # 43.2 / 44.1 is 0.4 % less than the quotient
        (0.4329, 0.43301, ("43.29 %", "43.31 %")),
        (0.0129, 0.0401, ("1.29 %", "4.01 %")),
        (0.0072272, 0.00737, ("0.722 %", "0.737 %")),  # 0.72 / 0.74 is 97.3 %, the quotient 98.06 %
        (0.00722, 0.00722001, ("0.72 %", "0.73 %")),
        (0.5, np.inf, ("50.0 %", "")),
        (0.012, np.inf, ("1.2 %", "")),
    ],
)
def test_both_shares_have_the_same_digits(reached, possible, said):
    assert headline.shares(reached, possible) == said


# --- samples ----------------------------------------------------------------------------------------


def test_correlations_are_those_of_numpy_also_of_sparse_tables():
    rng = np.random.default_rng(1)
    X, S = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    found = samples.correlations(sp.csr_array(X), S)
    assert np.allclose(found, np.corrcoef(X.T, S.T)[:3, 3:])
    assert np.allclose(samples.correlations(X, S), found)
    assert samples.correlations(np.ones((20, 1)), S).tolist() == [[0, 0]]
    for factor in (1e300, 1e-300):
        assert np.allclose(samples.correlations(factor * X, S), found), "as for numbers near one"


def test_scores_are_those_of_the_package_with_every_label():
    data = table(labels=np.array(["x", "y"] * 15))
    found = outcome(data)
    scores = samples.scores_of(found)
    frame = samples.score_table(found, scores)
    assert list(frame.columns) == ["sample", "label", "component 1", "component 2"]
    X = found.results["joint"].components
    order = np.argsort(-found.results["joint"].values, kind="stable")
    assert np.allclose(scores, (data.X - data.X.mean(axis=0)) @ X[:, order])
    assert samples.counted(data.labels, [0, 2, 1]) == "2 x, 1 y"
    assert samples.counted([str(i) for i in range(9)], range(9)).endswith("3 other labels")


def test_labels_in_force_come_first_and_other_columns_follow():
    data = SimpleNamespace(labels=[1], label_name="tissue", label_columns={"age": [2], "tissue": [1]})
    assert list(samples.label_columns(data)) == ["tissue", "age"]
    assert samples.label_columns(table()) == {}


# --- groups -----------------------------------------------------------------------------------------


def test_the_component_that_separates_most_is_named():
    data = table(labels=np.array(["x", "y"] * 15))
    found = outcome(data)
    effects = nspca.group_effects(samples.scores_of(found), data.labels)
    said = groups.sentence(effects, "component")
    best = int(np.argmax(np.abs(effects.effect)))
    assert said == (f"**Component {best + 1}** separates x and y most: Cohen's d {effects.effect[best]:.2f}.")
    none = nspca.GroupEffects("eta squared", ("a", "b", "c"), (2, 2, 2), np.array([np.nan]))
    assert "do not differ" in groups.sentence(none, "part")


def test_the_check_on_a_held_out_half_is_asked_about_the_label():
    data = table(labels=np.array(["x", "y"] * 15))
    spec = groups.question(outcome(data), "label")
    assert spec.label == "" and spec.sizes == (3, 2) and spec.method == "joint"
    unequal = groups.question(outcome(data, method="tpower"), "age")
    assert unequal.method == "joint" and unequal.label == "age", "different sizes need one that finds all"
    found = spec.run(X=data.X, labels=list(data.labels))
    said = groups.held_out_sentence(found, "component")
    assert "not found on" in said and "p = 0.002" in said and f"on {sum(found.counts)} samples" in said
    chance = nspca.GroupEffects("eta squared", ("a", "b"), (9, 9), np.array([0.1]), np.array([0.4]))
    assert "by chance" in groups.held_out_sentence(chance, "component")


@pytest.mark.visit
def test_groups_are_compared_on_the_page(visit, stand_ins, texts, ended):
    page = visit("pages/parts.py", pictures="digits", look="samples")
    assert not page.exception and not page.error
    assert "How far do the parts separate the groups?" in texts(page) and "eta squared" in texts(page)
    page.button(key="groups").click().run()
    page = ended(page)
    assert not page.exception and not page.error
    assert "p = " in texts(page) and "held_out" in page.dataframe[0].value


# --- how many ---------------------------------------------------------------------------------------


def test_how_many_is_asked_beyond_what_is_there():
    spec = how_many.question(outcome(table(n=8), sizes=(2, 2)))
    assert (spec.ks, spec.most, spec.method, spec.draws) == ((2,), 4, "joint", 0), (
        "8 features have room for 4"
    )
    assert how_many.question(outcome(table(n=40), sizes=(2,) * 7)).most == 9


def test_the_sentence_names_the_smallest_number_that_is_as_good():
    nan = np.full(3, np.nan)
    values = np.array([1.0, 2.0, 3.0])
    choice = nspca.Choice(
        "components", np.array([1, 2, 3]), values, np.array([0.2, 0.39, 0.4]), np.full(3, 0.02), nan, nan
    )
    said = how_many.sentence(choice, "part")
    assert "**3 parts** explain most of the held-out samples: 40.0 ± 2.0 %" in said
    assert "**2** explain 39.0 %, which is as good" in said


# --- documents --------------------------------------------------------------------------------------


def test_words_of_a_topic_are_marked_as_whole_words_and_nothing_else_is_markup():
    said = documents.marked('The <b>cat</b> sat on Cats & "cat"', ["cat"])
    assert said == "The &lt;b&gt;<mark>cat</mark>&lt;/b&gt; sat on Cats &amp; &#34;<mark>cat</mark>&#34;"
    assert documents.marked("New\n York is new", ["new york", "new"]) == (
        "<mark>New\n York</mark> is <mark>new</mark>"
    )
    assert documents.marked("a.c abc", ["a.c"]) == "<mark>a.c</mark> abc"
    assert documents.marked("nothing", []) == "nothing"


def test_a_long_document_is_shown_around_its_first_word():
    text = "x " * 2000 + "needle " + "y " * 2000
    said = documents.marked(text, ["needle"])
    assert "<mark>needle</mark>" in said and said.startswith("… ") and said.endswith(" …")
    assert len(said) < documents.LONGEST + 60


# --- taking home ------------------------------------------------------------------------------------


def parse_gmt(content: bytes) -> dict[str, list[str]]:
    lines = [line.split("\t") for line in content.decode().splitlines()]
    return {name: genes for name, _, *genes in lines}


def test_gene_sets_are_read_back_by_a_parser():
    data = table()
    found = outcome(data, nonneg=False, sizes=(3, 2))
    sets = parse_gmt(take_home.gene_sets(found))
    X = found.results["joint"].components
    members = {frozenset(data.feature_names[i] for i in np.flatnonzero(x)) for x in X.T}
    whole = {}
    for name, genes in sets.items():
        whole.setdefault(name.removesuffix("_UP").removesuffix("_DN"), set()).update(genes)
    assert {frozenset(genes) for genes in whole.values()} == members
    named = take_home.gene_sets(found, {("joint", 1): "immune\tresponse"})
    assert "immune response" in {name.removesuffix("_UP").removesuffix("_DN") for name in parse_gmt(named)}


def test_sets_keep_signs_apart_and_names_apart():
    assert take_home.signed_sets("c", ["a", "b", "d"], np.array([0.6, -0.8, 0])) == [
        ("c_UP", ["a"]),
        ("c_DN", ["b"]),
    ]
    assert take_home.signed_sets("c", ["a", "b"], np.array([-0.6, -0.8])) == [("c", ["b", "a"])]
    twice = parse_gmt(take_home.gene_sets(outcome(table()), {("joint", 1): "same", ("joint", 2): "same"}))
    assert set(twice) == {"same", "same_2"}


def test_ranked_lists_have_every_feature_by_its_correlation():
    data = table()
    found = outcome(data)
    lists = take_home.ranked_lists(found)
    assert list(lists) == ["component-1.rnk", "component-2.rnk"]
    rows = [line.split("\t") for line in lists["component-1.rnk"].decode().splitlines()]
    scores = samples.scores_of(found)[:, 0]
    expected = {
        name: np.corrcoef(x, scores)[0, 1] for name, x in zip(data.feature_names, data.X.T, strict=True)
    }
    assert {name for name, _ in rows} == set(data.feature_names)
    assert all(float(value) == pytest.approx(expected[name], abs=1e-6) for name, value in rows)
    assert [float(value) for _, value in rows] == sorted((float(v) for _, v in rows), reverse=True)


def test_a_covariance_gives_the_ranked_lists_of_its_data():
    data = table()
    A = np.cov(data.X, rowvar=False, bias=True)
    given = Dataset("a covariance", A, data.feature_names, data.feature_names, is_covariance=True)
    asked = ComponentsSpec(sizes=(3, 2), methods=("joint",), effort=None, center=False)
    problem = nspca.Problem.from_covariance(A, (3, 2))
    results = {"joint": nspca.solve(problem, "joint", certify=None)}
    found = Outcome(
        subject.COMPONENTS, Chosen(given, asked.data, ""), asked, problem, results, "r", live=False
    )
    assert take_home.ranked_lists(found) == take_home.ranked_lists(outcome(data))


def test_files_are_named_after_the_upload():
    def stem(**where):
        return Chosen(table(), DataSpec(**where), "").stem

    assert stem(upload="0" * 64, file="My cells (2).csv") == "My-cells-2"
    assert stem(upload="0" * 64, file="../../x';import os.csv") == "x-import-os"
    assert stem(upload="0" * 64, file="") == "upload" and stem(sample="coffee") == "coffee"
    assert stem(folder="news") == "news"


def test_weights_go_home_with_names(visit):
    found = outcome(table(labels=np.array(["x", "y"] * 15)))
    frame = take_home.weights(found)
    assert list(frame.columns) == ["method", "component", "rank", "feature", "weight", "share", "explained"]
    assert frame.groupby("component")["share"].sum().round(9).tolist() == [1.0, 1.0]
    files = take_home._tables(found, None)
    assert set(files) == {
        "tables/methods.csv",
        "tables/components.csv",
        "tables/scores.csv",
        "enrichment/components.gmt",
        "enrichment/component-1.rnk",
        "enrichment/component-2.rnk",
    }
    rows = list(csv.reader(io.StringIO(files["tables/scores.csv"].content.decode("utf-8-sig"))))
    assert rows[0][:2] == ["sample", "label"] and len(rows) == 31


# --- what a covariance and short names need ---------------------------------------------------------


def test_a_covariance_has_no_section_about_samples(visit, reopened, address, texts):
    page = reopened(PAGE, "components", table="pitprops")
    assert not page.exception and not page.error
    assert page.segmented_control(key="widget_look").options == [
        "One component",
        "How many components?",
        "All methods",
        "The proof",
    ]
    assert "Samples on a map" not in texts(page)
    again = visit(PAGE, **{**address(page), "look": "samples"})
    assert (
        not again.exception and not again.error and again.segmented_control(key="widget_look").value == "one"
    )


def test_short_names_of_a_sample_are_explained_and_those_of_other_data_are_not(reopened):
    page = reopened(PAGE, "components", table="pitprops")
    (body,) = [part.proto.body for part in page.get("html") if "nspca-topics" in part.proto.body]
    assert "<span>ringbut: annual rings at the base</span>" in body
    pitprops = nspca.load_sample("pitprops")
    assert set(nspca.data.SAMPLES["pitprops"].meanings) == set(pitprops.feature_names)
    mine = Chosen(pitprops, DataSpec(sample="coffee"), "")
    assert list(subject.explained_names(mine)) == list(pitprops.feature_names)


def test_a_stored_answer_folds_the_button_away_until_the_form_asks_something_else(visit, stand_ins, texts):
    page = visit(PAGE, table="all-aml")
    fold = next(one for one in page.expander if one.label.endswith("**change**"))
    assert [button.label for button in fold.button if button.key == "run"] == ["Find 5 components"]
    assert "Open **change** below to ask something else." in texts(page)
    page.number_input(key="widget_r").set_value(2).run()
    fold = next(one for one in page.expander if one.label.endswith("**change**"))
    assert not [button for button in fold.button if button.key == "run"]
    assert page.button(key="run").label == "Find 2 components"
    assert "Press **Find 2 components** to run your own." in texts(page)


@pytest.mark.parametrize(
    ("path", "address"), [(PAGE, {"table": "all-aml"}), ("pages/topics.py", {"texts": "state-of-the-union"})]
)
def test_a_presented_page_has_a_control_that_shows_one_alone(visit, stand_ins, alts, path, address):
    page = visit(path, present=1, **address)
    assert not page.exception and not page.error
    key = "widget_component" if path == PAGE else "widget_topic"

    def seen():
        return [*alts(page), *(part.proto.body for part in page.get("html"))]

    before = seen()
    page.segmented_control(key=key).set_value(2).run()
    assert not page.exception and not page.error and seen() != before


def test_the_page_is_there_with_the_answer_while_its_proof_is_at_work(reopened, texts, alts, monkeypatch):
    page = reopened(PAGE, "components", **SHORT)
    run = page.query_params["components"]
    done = engine().status(run if isinstance(run, str) else run[0])
    now = replace(
        done, state="running", finished=None, event=Event("dual", lower=1.0, payload={"share": 0.8})
    )
    monkeypatch.setattr(type(engine()), "status", lambda self, run_id: now)
    page.run()
    assert not page.exception and not page.error and page.button(key="cancel")
    assert "2 components, each of 4 wavelengths, capture" in texts(page)
    assert any(alt.startswith("2 components over band") for alt in alts(page))
    assert any("Scores" in one.label for one in page.get("download_button"))
    page.segmented_control(key="widget_look").set_value("samples").run()
    assert page.get("plotly_chart") and "Draw a lasso" in texts(page) and not page.exception
    page.segmented_control(key="widget_look").set_value("proof").run()
    assert not page.exception and not page.error
