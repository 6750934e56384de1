"""Topics: ranked words at once and one by one, documents, exports, and the matching as a picture."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.joint import lists, take_home, topics
from nspca.dashboard.joint import matching as matching_view
from nspca.data.export import frame_to_csv
from nspca.jobs import engine
from nspca.local_search.matching import assign, total
from nspca.plots.matching import matching_figure
from nspca.plots.topics import topic_figure
from nspca.progress import silent
from nspca.specs.components import one_by_one
from tests.dashboard.figures import copied
from tests.patience import wait_for

PAGE = "pages/topics.py"
SHORT = {"texts": "state-of-the-union", "r": 3, "size": 6, "by": "joint,tpower", "proof": "none"}


def methods_of(page):
    """Return the page with the section of all methods."""
    return page.segmented_control(key="widget_look").set_value("methods").run()


def finished(page, key="topics"):
    """Return the page after its run has ended."""
    run = page.query_params[key]
    run = run if isinstance(run, str) else run[0]
    wait_for(lambda: engine().status(run).ended)
    return page.run()


@pytest.fixture
def done(visit, stand_ins):
    page = visit(PAGE, **SHORT)
    page.button(key="run").click().run()
    return finished(page)


@pytest.fixture
def known(reopened, stand_ins):
    """Return the page with finished topics, opened by its address."""
    return reopened(PAGE, "topics", **SHORT)


def lists_of(page) -> list[str]:
    return [part.proto.body for part in page.get("html") if "nspca-topics" in part.proto.body]


def test_it_opens_on_real_words_and_counts_stay_as_they_are(visit, stand_ins, texts):
    page = visit(PAGE)
    assert not page.exception and not page.error
    assert page.selectbox(key="widget_texts").value == "state-of-the-union"
    assert "**Stored answer** for 8 topics, each of 15 words, " in texts(page)
    assert (
        page.toggle(key="widget_raw").value is True and "mostly zeros" in page.toggle(key="widget_raw").help
    )


@pytest.mark.visit
def test_from_run_to_topics(done, texts, alts):
    assert not done.exception and not done.error
    assert "## 3 topics, each of 6 words, capture" in texts(done)
    assert len(lists_of(done)) == 1, "those of the best method"
    done = methods_of(done)
    assert len(lists_of(done)) == 3 and all(
        body.count("<section>") == 3 and body.count("<li") == 18 for body in lists_of(done)
    )
    assert any(
        alt.startswith("Variance explained, % of total against the number of components")
        for alt in alts(done)
    )
    assert any(alt.startswith("Matching of total weight") for alt in alts(done))


@pytest.mark.visit
def test_every_method_that_finds_components_together_counts_as_at_once(visit, texts):
    page = visit("pages/components.py", table="pitprops", r=3, size=3, by="tpower,coordinate", proof="none")
    page.button(key="run").click().run()
    page = methods_of(finished(page, "components"))
    assert not page.exception and not page.error
    said, table = texts(page), page.dataframe[0].value.set_index("method")
    assert "**coordinate** :small[:gray[all at once, " in said
    assert "**tpower** :small[:gray[one after another, " in said
    assert table["found"].to_dict() == {"tpower": "one by one", "coordinate": "at once"}
    more = 100 * (table.loc["coordinate", "explained"] / table.loc["tpower", "explained"] - 1)
    assert (
        f"**coordinate** looks for all components together and explains {abs(more):.1f} % "
        f"{'more' if more >= 0 else 'less'} than **tpower**" in said
    )
    assert "that no component of coordinate has" in said


def test_the_words_are_those_of_the_package(known):
    data = nspca.load_sample("state-of-the-union")
    problem = nspca.Problem.from_data(data.X, (6, 6, 6), center=False)
    result = one_by_one(problem, "tpower", {}, 0, silent)
    shown = lists_of(methods_of(known))[2]
    assert shown.count("<section>") == 3
    for j, x in enumerate(result.components.T):
        section = next(part for part in shown.split("<section>") if part.startswith(f"<h3>{j + 1} ·"))
        assert all(f"<span>{data.feature_names[i]}</span>" in section for i in np.flatnonzero(x))


@pytest.mark.visit
def test_the_documents_that_load_most(done):
    table = done.dataframe[0].value
    data = nspca.load_sample("state-of-the-union")
    assert (
        list(table.columns) == ["document", "score", "words of the topic in it"]
        and table["score"].is_monotonic_decreasing
    )
    words = copied(done)[0].splitlines()
    row = data.X[[data.sample_names.index(table["document"][0])]].toarray().ravel()
    *pairs, last = table["words of the topic in it"][0].split(", ")
    assert last == "…" and len(pairs) == 5
    counts = dict(pair.rsplit(" ", 1) for pair in pairs)
    assert all(row[data.feature_names.index(word)] == float(count) for word, count in counts.items()) and set(
        words
    ) & set(counts)
    done.segmented_control(key="widget_topic").set_value(2).run()
    assert not done.exception and done.dataframe[0].value["score"][0] != table["score"][0]


def test_topics_of_the_other_methods_stand_beside_those_they_share_most_with():
    X = np.eye(6)[:, :3]
    assert lists.matched(X, X[:, [2, 0, 1]]).tolist() == [1, 2, 0]
    body = lists.lists(
        X[:, [2, 0, 1]],
        ["30.0 %", "20.0 %", "10.0 %"],
        list("abcdef"),
        order=[1, 2, 0],
        called={1: "<first>"},
    )
    assert [part.split("</h3>")[0] for part in body.split("<h3>")[1:]] == [
        "2 &lt;first&gt; · 20.0 %",
        "3 · 10.0 %",
        "1 · 30.0 %",
    ]


@pytest.mark.visit
def test_a_topic_is_named_and_the_name_stays_and_goes_home(done, visit, address, texts):
    done.segmented_control(key="widget_topic").set_value(2).run()
    done.text_input(key="name_joint_2").set_value("  sea | ships ").run()
    assert address(done)["named"] == "joint:2=sea / ships" and "2 sea / ships ·" in lists_of(done)[0]
    again = visit(PAGE, **address(done))
    assert not again.error and again.segmented_control(key="widget_topic").options[1] == "2 sea / ships"
    problem = nspca.Problem.from_data(nspca.load_sample("state-of-the-union").X, (6, 6, 6), center=False)
    made = SimpleNamespace(
        of=SimpleNamespace(dataset=nspca.load_sample("state-of-the-union")), about=topics.SUBJECT
    )
    made.ordered = {"joint": one_by_one(problem, "tpower", {}, 0, silent)}
    frame = take_home.weights(made, {("joint", 2): "=sea"})
    assert (
        set(frame["name"][frame["topic"] == 2]) == {"=sea"} and not frame["name"][frame["topic"] != 2].any()
    )
    assert b"'=sea" in frame_to_csv(frame)
    again.text_input(key="name_joint_2").set_value("").run()
    assert "named" not in address(again) and not again.error


def test_what_is_no_name_in_an_address_is_left_out(visit, address, known):
    page = visit(PAGE, **{**address(known), "named": "joint:2=good|nonsense|joint:x=bad|:1=|joint:99999=far"})
    assert not page.error and not page.exception and "2 good ·" in lists_of(page)[0]


def test_the_bars_of_a_topic_are_its_weights_over_how_common_the_words_are():
    figure = topic_figure([0.0, 0.6, -0.8], ["a", "<b>", "c"], [5, 7, 9], what="times")
    back, front = figure.data
    assert (
        list(back.x) == [9, 7]
        and list(front.x) == [0.8, 0.6]
        and list(figure.layout.yaxis.ticktext) == ["c", "&lt;b&gt;"]
    )
    assert "c -0.80" in figure.layout.meta["alt"] and back.xaxis == "x2"
    data = nspca.load_sample("state-of-the-union")
    assert np.array_equal(topics.common(data)[0], np.asarray(data.X.sum(axis=0)).ravel())
    table = nspca.load_sample("coffee")
    assert np.allclose(topics.common(table)[0], table.X.var(axis=0), rtol=1e-6)


@pytest.mark.visit
def test_a_reload_finds_the_topic(done, visit, address, texts):
    done.segmented_control(key="widget_topic").set_value(3).run()
    again = visit(PAGE, **address(done))
    assert not again.error and again.segmented_control(key="widget_topic").value == 3
    assert texts(again) == texts(done)


def test_the_words_in_force_are_shown(visit, stand_ins):
    assert (
        visit(PAGE, sample="state-of-the-union").selectbox(key="widget_texts").value == "state-of-the-union"
    )


def test_names_are_text_and_cells_are_no_formulas():
    X = np.array([[0.6, 0.0], [-0.8, 0.0], [0.0, 1.0]])
    body = lists.lists(
        X, ["50.0 %", "20.0 %"], ["<b>x</b>", '"y"', "=z"], known=np.array([True, False, True])
    )
    assert (
        "<b>" not in body and "&lt;b&gt;x" in body and "&#34;y&#34;" in body and body.count("class=only") == 1
    )

    of = SimpleNamespace(dataset=SimpleNamespace(feature_names=["a", "b", "=cmd()"]))
    results = {"tpower": nspca.Result(X, np.ones(2), nspca.Status.HEURISTIC, "tpower")}
    frame = take_home.weights(SimpleNamespace(of=of, about=topics.SUBJECT, ordered=results))
    assert frame["feature"].tolist() == ["b", "a", "=cmd()"] and b"'=cmd()" in frame_to_csv(frame)


@pytest.mark.parametrize("number", range(1, matching_view.EXAMPLES + 1))
def test_every_example_shows_a_best_matching_and_never_a_worse_one_than_in_turn(number):
    weights, sizes = matching_view.example(number), (matching_view.SIZE,) * 3
    slots = np.repeat(weights, sizes, axis=1)
    rows, columns = linear_sum_assignment(-slots)
    matched, turns = assign(weights, sizes), matching_view.in_turn(weights, sizes)
    assert np.isclose(total(weights, matched), slots[rows, columns].sum())
    assert total(weights, turns) <= total(weights, matched) + 1e-12
    assert [np.count_nonzero(turns == j) for j in range(3)] == [2, 2, 2]


def test_the_picture_shows_every_chosen_edge_between_its_slot_and_its_feature():
    weights = matching_view.example(1)
    labels = assign(weights, (2, 2, 2))
    figure = matching_figure(weights, labels, matching_view.FEATURES, matching_view.COMPONENTS, (2, 2, 2))
    bold = [trace for trace in figure.data if trace.mode == "lines" and trace.line.width == 4]
    ends = [[-round(y) for y in trace.y[1::3]] for trace in bold]
    assert [sorted(end) for end in ends] == [np.flatnonzero(labels == j).tolist() for j in range(3)]
    assert f"{total(weights, labels):.4g}" in figure.layout.meta["alt"]


def test_every_example_shows_what_taking_turns_loses():
    lost = [
        total(w, assign(w, (2,) * 3)) - total(w, matching_view.in_turn(w, (2,) * 3))
        for w in map(matching_view.example, range(1, 31))
    ]
    assert min(lost) > 0.05


def test_the_longest_bar_ends_before_its_number():
    body = lists.lists(np.array([[1.0], [0.5]]), ["9.0 %"], ["a", "b"])
    ends = [float(part.split(" ")[0]) for part in body.split("calc(")[1::2]]
    assert ends == [1.0, 0.5] and body.count(f"* (100% - {lists.NUMBER_ROOM}))") == 4
