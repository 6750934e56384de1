"""Several components: rows of a run, sentences, pictures, samples, groups and files, without a page."""

import base64
import csv
import io
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.app.wording import Nouns, kind_of
from nspca.dashboard.joint import (
    annotations,
    form,
    lists,
    methods,
    parts,
    samples,
    take_home,
    topics,
)
from nspca.dashboard.joint import page as joint_page
from nspca.dashboard.joint.form import read_sizes
from nspca.dashboard.joint.page import progress_line as says
from nspca.dashboard.open_data import Chosen, find, problem_of
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import section as held_out
from nspca.data import Dataset
from nspca.data.export import frame_to_csv
from nspca.errors import InvalidProblem
from nspca.jobs import JobState
from nspca.plots.compare import cumulative_figure, styles
from nspca.plots.joint import parts_figure, union_figure
from nspca.presentation.numerals import format_value
from nspca.progress import Event, silent
from nspca.specs import ComponentsSpec, DataSpec
from nspca.specs.components import one_by_one
from nspca.specs.rows import Climbed, Refused, Several, unpack

ASKED = ComponentsSpec(sizes=(4, 3), methods=("joint",), effort=None)


def test_a_question_says_how_the_data_were_prepared():
    data = DataSpec(sample="digits", prepared=["equalised"], log2=True)
    said = ComponentsSpec(data=data, sizes=(4, 4), center=False, scale=True, noun="part").describe().line
    assert "Equalised, log2(x + 1), 2 parts of 4 pixels each" in said
    assert "nonnegative, not centred, standardised" in said


def test_the_gain_compares_the_best_of_both_sides():
    made = lambda value: nspca.Result(np.eye(3)[:, :1], np.array([value]), nspca.Status.HEURISTIC, "")  # noqa: E731
    values = {"joint": 2.0, "coordinate": 3.0, "bipartite": 1.0, "em": 2.5, "cone": 1.5}
    assert methods.gain({method: made(value) for method, value in values.items()}) == (
        "coordinate",
        "em",
        pytest.approx(0.2),
    )
    assert (
        methods.gain({method: made(values[method]) for method in ("joint", "coordinate", "bipartite")})
        is None
    )


@pytest.mark.parametrize(("center", "scale"), [(True, False), (False, False), (True, True)])
def test_a_reconstruction_is_the_least_squares_one(center, scale):
    rng = np.random.default_rng(0)
    X = rng.random((30, 8))
    problem = nspca.Problem.from_data(X, (3, 2), center=center, scale=scale)
    Y = one_by_one(problem, "tpower", {}, 0, silent).components
    picture, share = parts.reconstruction(X, problem, Y, 4)
    mean, spread = X.mean(axis=0) * center, X.std(axis=0) if scale else 1.0
    z = (X[4] - mean) / spread
    shown = [parts.reconstruction(X, problem, Y, row)[1] for row in range(30)]
    assert parts.best_shown(X, problem, Y) == np.argmax(shown)
    best = np.linalg.lstsq(Y, z, rcond=None)[0]
    assert np.allclose(picture, mean + spread * (Y @ best))
    assert np.isclose(share, 1 - np.sum((z - Y @ best) ** 2) / np.sum(z**2))
    assert np.allclose(parts.reconstruction(sp.csr_array(X), problem, Y, 4)[0], picture)


def heard(X, spec, until=lambda event: False):
    """Return the events of a run up to a chosen one, and its result, partial if it was cancelled there."""
    events = []

    def report(event):
        events.append(event)
        if until(event):
            raise nspca.errors.Cancelled

    try:
        return events, spec.run(report, X=X), False
    except nspca.errors.Cancelled as stop:
        return events, stop.result, True


def rows_of(events):
    return tuple(event.payload["row"] for event in events if "row" in event.payload)


def test_the_cheapest_is_ready_first_and_the_order_asked_for_stays():
    X = nspca.load_sample("digits").X[:200]
    events, content, _ = heard(X, ASKED.but(methods=["joint", "threshold", "cone"]))
    assert [row["method"] for row in rows_of(events) if row["row"] == "several"] == [
        "threshold",
        "cone",
        "joint",
    ]
    assert [method for method, _ in content] == ["joint", "threshold", "cone"]
    assert all(line.cost > 0 for line in nspca.METHODS.values())


def test_every_improvement_is_a_row_with_components_that_have_at_least_that_value():
    X = nspca.load_sample("digits").X
    events, content, _ = heard(X, ASKED.but(sizes=[10] * 5, methods=["joint", "tpower"]))
    now = JobState("x", "running", rows=rows_of(events))
    reported = [row for row in unpack(now.rows) if isinstance(row, Climbed)]
    first = [row.components(64) for row in reported if row.method == "tpower"]
    assert [X.shape[1] for X in first] == [1, 2, 3, 4], "one after another, until all are there"
    assert np.allclose(first[-1], content["tpower", 5].components[:, :4], atol=1e-5)
    climbed = [row for row in reported if row.method == "joint"]
    values, problem = [row.value for row in climbed], nspca.Problem.from_data(X, (10,) * 5)
    assert len(climbed) >= 2 and values == sorted(set(values))
    for row in climbed:
        assert sum(problem.value(x) for x in row.components(64).T) >= row.value * (1 - 1e-5)
    assert np.isclose(values[-1], content["joint", 5].value)
    assert joint_page.climbed(now) == (climbed, False)
    assert joint_page.climbed(replace(now, rows=now.rows[:-1])) == (climbed, True)


def test_the_first_components_are_shown_while_the_others_are_sought(monkeypatch):
    X = nspca.load_sample("digits").X
    asked = ASKED.but(data=DataSpec(sample="digits"), sizes=[10] * 5, methods=["tpower", "joint"])
    events, _, _ = heard(X, asked, lambda event: event.done == 3)
    shown = []
    monkeypatch.setitem(joint_page.VIEWS, "image", SimpleNamespace(so_far=shown.append))
    page = joint_page.JointPage()
    now = JobState("x", "running", rows=rows_of(events))
    of = find(asked.data, None)
    page.filling(Answer(of, asked, problem_of(of, asked), now=now))
    (answer,) = shown
    assert answer.nouns.sized(answer.k) == "3 parts, each of 10 pixels" and answer.is_partial
    assert answer.results["tpower"].components.shape == (64, 3)


@pytest.mark.parametrize("stage", ["kicks", "looking for a bound", "joint proof"])
def test_a_cancelled_run_hands_in_what_was_ready(stage):
    X = nspca.load_sample("digits").X
    request = ASKED.but(sizes=[10] * 3, methods=["joint", "tpower"], effort="fast")
    # The first event of the proof comes before there is one.
    _, content, cancelled = heard(
        X, request, lambda event: event.stage == stage and (stage != "joint proof" or event.done > 0)
    )
    assert cancelled
    sweep, problem = content, nspca.Problem.from_data(X, (10,) * 3)
    assert list(sweep) == [("joint", 3), ("tpower", 3)]
    for result in sweep.results.values():
        assert np.allclose([problem.value(x) for x in result.components.T], result.values)
    assert (sweep["joint", 3].status is nspca.Status.CANCELLED) == (stage == "kicks")
    proof = sweep["tpower", 3].certificate
    assert (proof is not None) == (stage == "joint proof")
    assert proof is None or sweep["joint", 3].value <= nspca.verify(X, proof) <= proof.upper


def failures(rows) -> dict[str, str]:
    return {row.method: row.error for row in unpack(rows) if isinstance(row, Refused)}


def test_a_method_that_cannot_says_why_and_the_others_go_on():
    request = ASKED.but(methods=["spanspca", "tpower"])
    events = []
    content = request.run(events.append, X=nspca.load_sample("digits").X[:50])
    rows = tuple(event.payload["row"] for event in events if "row" in event.payload)
    assert "no nonnegative form" in failures(rows)["spanspca"]
    assert list(content) == [("tpower", 2)]
    with pytest.raises(nspca.errors.InvalidOption):
        request.but(methods=["spanspca"]).run(X=np.eye(9))


def test_components_stay_when_nothing_can_be_proved(monkeypatch):
    def refuse(*args, **options):
        raise nspca.errors.NotConverged("no bound today")

    monkeypatch.setattr("nspca.specs.components.certify", refuse)
    events = []
    request = ASKED.but(methods=["tpower"], effort="fast")
    content = request.run(events.append, X=nspca.load_sample("digits").X[:50])
    assert content["tpower", 2].certificate is None
    rows = tuple(event.payload["row"] for event in events if "row" in event.payload)
    assert failures(rows) == {"proof": "no bound today"}


def test_a_large_result_waits_for_the_end():
    result = nspca.Result(np.full((5000, 1), 5000**-0.5), np.ones(1), nspca.Status.HEURISTIC, "joint")
    assert Several.of(result).parts is None and Several.of(result).result(5000) is None


@pytest.mark.parametrize("sizes", [(6, 6, 6), (6, 5, 4), (6,)])
def test_the_snippet_finds_the_same(capsys, sizes):
    X = nspca.load_sample("digits").X
    options = {"tpower": {"restarts": 3}}
    data = DataSpec(sample="digits")
    asked = ComponentsSpec(data=data, sizes=sizes, methods=("tpower",), options=options, effort=None)
    found = {}
    exec(asked.to_python(method="tpower"), found)  # the page offers exactly this text
    ours = one_by_one(nspca.Problem.from_data(X, sizes), "tpower", {"restarts": 3}, 0, silent)
    assert np.array_equal(found["result"].components, ours.components) and "row" in capsys.readouterr().out


def test_the_arrays_are_complete():
    data = nspca.load_sample("digits")
    problem = nspca.Problem.from_data(data.X, (5, 5))
    result = one_by_one(problem, "tpower", {}, 0, silent)

    made = SimpleNamespace(of=SimpleNamespace(dataset=data), ordered={"tpower": result})
    with np.load(io.BytesIO(take_home.arrays(made)), allow_pickle=False) as file:
        assert (
            np.array_equal(file["components_tpower"], result.components)
            and file["feature_names"][0] == data.feature_names[0]
        )


def test_every_weight_is_drawn_where_its_pixel_is_in_the_hue_of_its_part():
    X = np.zeros((6, 9))
    X[[0, 5, 2], [0, 1, 8]] = 1.0, 0.5, 0.25
    figure = parts_figure(X, (2, 3), name="joint")
    found = {}
    for part in figure.data[1:]:
        for i, j in np.argwhere(np.isfinite(np.array(part.z))):
            found[(part.y0 + i, part.x0 + j)] = float(part.z[i][j])
    # three rows of caption above each line of eight pictures; three pixels, then a gap of one
    assert found == {(3, 0): 1.0, (4, 6): 0.5, (8, 2): 0.25}
    union = union_figure(X, (2, 3), name="joint")
    hues = [[part.colorscale[1][1] for part in drawn.data[1:]] for drawn in (figure, union)]
    assert hues[0] == hues[1] and len(set(hues[0])) == 9, "one hue for a part in both pictures"


def test_every_pixel_of_the_union_has_the_colour_of_its_part():
    X = np.zeros((6, 2))
    X[[0, 5], 0], X[2, 1] = (0.8, 0.4), 1.0
    figure = union_figure(X, (2, 3), mean=np.arange(6.0), name="joint")
    _, first, second = figure.data
    assert {
        (int(i), int(j)): float(np.array(first.z)[i, j]) for i, j in np.argwhere(np.isfinite(first.z))
    } == {(0, 0): 1.0, (1, 2): 0.5}
    assert (
        np.argwhere(np.isfinite(second.z)).tolist() == [[0, 2]]
        and first.colorscale[1][1] != second.colorscale[1][1]
    )
    assert numbers_of(figure) == {(0, 0): 1, (0, 2): 2}, "one number for each part, also without colour"
    (border,) = figure.layout.shapes
    # Each of three single pixels has four sides, and two of them touch along one.
    assert len(sides_of(border.path)) == 3 * 4 - 1
    assert ((1.5, 0.5), (2.5, 0.5)) in sides_of(border.path), "between the touching pixels of two parts"


def numbers_of(figure):
    """Return the number that stands on each numbered pixel (row, column)."""
    return {
        (note.y, note.x): int(note.text.removeprefix("<b>").removesuffix("</b>"))
        for note in figure.layout.annotations
    }


def sides_of(path):
    """Return the unit lines of a path as pairs of points."""
    found = set()
    for line in path.split("M ")[1:]:
        start, kind, end = line.split()
        x, y = map(float, start.split(","))
        found.add(((x, y), (x, float(end)) if kind == "V" else (float(end), y)))
    return found


def test_the_number_of_a_part_stands_at_its_centre():
    weights = np.zeros((12, 12))
    weights[1:4, 1:4], weights[9, 9] = 0.2, 0.1
    figure = union_figure(weights.reshape(-1, 1), (12, 12), name="joint")
    assert numbers_of(figure) == {(2, 2): 1}
    assert len(sides_of(figure.layout.shapes[0].path)) == 12 + 4
    assert not union_figure(np.zeros((4, 1)), (2, 2), name="joint").layout.shapes


def test_the_curve_counts_components_and_says_how_far_they_come():
    figure = cumulative_figure(
        {"joint": [3.0, 5.0], "cone": [4.0, 4.5]}, total=10.0, style=styles(["joint", "cone"]), upper=6.0
    )
    assert (
        list(figure.data[0].y) == [30, 50]
        and list(figure.data[1].y) == [40, 45]
        and list(figure.data[2].y) == [60, 60]
    )
    assert (
        "joint (all at once) 50 % with 2, cone (exact, few directions) 45 % with 2"
        in figure.layout.meta["alt"]
    )


def test_progress_says_what_is_done():
    asked = ComponentsSpec(sizes=(4, 4), methods=("joint", "cone"))
    event = Event("kicks", 3, 20, lower=12.0, payload={"method": "joint", "share": 0.1})
    assert (
        says(asked, JobState("x", "running", event=event))
        == "0 of 2 methods ready; changing the best answer at random"
    )
    proof = Event("joint proof", 3, 20, lower=12.0, upper=12.5, payload={"method": "proof"})
    said = says(asked, JobState("x", "running", event=proof))
    assert said == "0 of 2 methods ready; proving how good the best of them is"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "got 'nothing'"),
        ("many", "one whole number, or 3 of them with commas between, got 'many'"),
        ("6, 6", "one number for all or 3 numbers, one for each, got 2"),
        ("0", "at least 1 and together at most 64"),
    ],
)
def test_sizes_that_are_none(text, said):
    with pytest.raises(InvalidProblem, match=said):
        read_sizes(text, 3, 64)


def test_the_names_that_a_visitor_gave_stand_above_the_lists():
    body = lists.lists(np.eye(6)[:, :2], ["30.0 %", "20.0 %"], list("abcdef"), named={2: "<first>"})
    assert [part.split("</h3>")[0].strip() for part in body.split("<h3>")[1:]] == [
        "1 · 30.0 %",
        "2 &lt;first&gt; · 20.0 %",
    ]


def test_words_here_and_elsewhere_have_one_unit():
    X = sp.csr_array(np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
    data = Dataset("texts", X, ("<b>", "b", "c"), ("one", "two"), kind="words")
    said = topics.usage(data, np.array([0.8, 0.6, 0.0]), np.array([True, False]), 2)
    assert "in the 1 document of topic 2" in said and "&lt;b&gt;" in said and "In 1,000 words" in said
    halves = topics.usage(replace(data, X=data.X / 2), np.array([0.8, 0.6, 0.0]), np.array([True, False]), 2)
    assert "In 1,000 words" not in halves and "Of a weight of 1,000" in halves
    rates = re.findall(r"--length:([\d.]+)\"></span>([\d.]+)</td>", said)
    assert rates == [("1.000", "750.0"), ("0.000", "0.0"), ("0.333", "250.0"), ("0.667", "500.0")]
    scores = np.array([[2.0, 1.0], [0.0, 0.0], [1.0, 3.0]])
    assert topics.belonging(scores, 0).tolist() == [True, False, False]


def test_names_are_text_and_cells_are_no_formulas():
    X = np.array([[0.6, 0.0], [-0.8, 0.0], [0.0, 1.0]])
    body = lists.lists(
        X, ["50.0 %", "20.0 %"], ["<b>x</b>", '"y"', "=z"], known=np.array([True, False, True])
    )
    assert (
        "<b>" not in body
        and "&lt;b&gt;x" in body
        and "&#34;y&#34;" in body
        and body.count('class="only"') == 1
    )

    of = SimpleNamespace(dataset=SimpleNamespace(feature_names=["a", "b", "=cmd()"]))
    results = {"tpower": nspca.Result(X, np.ones(2), nspca.Status.HEURISTIC, "tpower")}
    frame = take_home.weights(SimpleNamespace(of=of, nouns=Nouns("words", "topic", "word"), ordered=results))
    assert frame["feature"].tolist() == ["b", "a", "=cmd()"] and b"'=cmd()" in frame_to_csv(frame)


def test_a_larger_weight_has_a_stronger_colour_and_each_word_can_be_left_out():
    X = np.array([[1.0, 0.0], [0.0, 0.3], [0.5, 0.0]])
    body = lists.lists(X, ["9.0 %", "1.0 %"], ["Ab", "b", "c"], chosen=2, can_leave_out=True)
    tints = [float(one) for one in re.findall(r"--tint:([\d.]+)", body)]
    assert tints == sorted(tints, reverse=True) and tints[0] == lists.STRONGEST
    assert re.findall(r'data-out="(\d)" aria-label="without (\w+)"', body) == [
        ("0", "Ab"),
        ("2", "c"),
        ("1", "b"),
    ]
    assert 'data-word="ab"' in body and re.findall('aria-pressed="(\\w+)"', body) == ["false", "true"]
    x = np.array([[0.2, 0.4, 0, -0.3, 0.5, 0.1, 0, 0.6]]).T
    bands = lists.lists(x, ["9.0 %"], list("abcdefgh"), axis=np.arange(400.0, 480, 10))
    shown = re.findall('data-word="([^"]*)"', bands)
    assert shown == ["400–410", "−430", "440–450", "470"], "neighbours of one sign, in their order"
    plain = lists.lists(X, ["9.0 %", "1.0 %"], ["a", "b", "c"])
    assert "<button" not in plain


def table(labels=None, m=30, n=8, **more) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    X[:, :3] += 3 * (np.arange(m) % 2)[:, None]
    names = tuple(f"gene {j}" for j in range(n))
    return Dataset("cells", X, names, tuple(f"cell {i}" for i in range(m)), labels=labels, **more)


def answer_of(data: Dataset, sizes=(3, 2), method="joint", **how) -> Answer:
    asked = ComponentsSpec(data=DataSpec(sample="coffee"), sizes=sizes, methods=(method,), effort=None, **how)
    problem, now = nspca.Problem.from_data(data.X, sizes, asked.nonneg), JobState("run", "done")
    return Answer(Chosen(data, asked.data, ""), asked, problem, asked.run(X=data.X), sizes, method, now=now)


def test_features_are_called_what_they_are():
    noun = wording.noun
    assert noun(table()) == "gene" and noun(nspca.load_sample("coffee")) == "band"
    assert noun(nspca.load_sample("pitprops")) == "feature" and noun(nspca.load_sample("all-aml")) == "gene"
    probes = Dataset("t", np.eye(3), ("1007_s_at", "1053_at", "ENSG00000141510"), ("a", "b", "c"))
    assert noun(probes) == "gene"
    for names, one in (
        (("TP53", "BRCA1", "ACTB", "HLA-DRA"), "gene"),
        (("P00001", "Q9Y6K9;P0DP23", "A0A024R161", "sp|P69905|HBA_HUMAN"), "protein"),
        (("ALCOHOL", "ASH", "HUE"), "feature"),
    ):
        few = Dataset("t", np.eye(len(names)), names, names)
        assert noun(few) == one
    assert kind_of(nspca.load_sample("digits")) == "image"
    assert kind_of(nspca.load_sample("pitprops")) == "table"


def test_all_at_once_explains_as_much_or_says_how_much_more():
    found = answer_of(table())
    result = found.shown
    both = lambda other: replace(found, sweep=nspca.Sweep({("joint", 2): result, ("cone", 2): other}))  # noqa: E731
    value = format_value(result.value)
    said = methods.gain_sentence(both(result))
    assert "explains as much as **cone**" in said and said.endswith(f"({value} in the units of the data).")
    said = methods.gain_sentence(both(replace(result, values=0.9994 * result.values)))
    assert "explains 0.06 % more than **cone**" in said and f"({value} and " in said


def test_the_proof_says_what_is_explained_and_what_the_proof_is_about():
    """The limit stands in the headline alone: the same one in other units and digits would contradict it."""
    data = table()
    found = answer_of(data)
    result = found.results["joint"]
    first, second = joint_page.sentences(found)
    share = 100 * result.value / found.problem.total_variance
    assert first.startswith("They explain ") and "not proved" in second
    assert 0 <= share - float(first.split("explain ")[1].split(" %")[0]) < 0.1
    _, second = joint_page.sentences(replace(found, upper=1.25 * result.value))
    assert second == (
        "The proof is about any 2 components of 3 and 2 genes, with nonnegative weights "
        "and without a gene in common."
    )


def test_the_headline_says_what_the_components_share_and_what_is_proved():
    """The limit of a run in progress says "so far", and never that nothing better exists."""
    found = answer_of(table())
    value, result = found.shown.value, found.shown
    A = found.problem.covariance
    variances = [A.diagonal[x != 0].sum() * A.unit for x in result.components.T]
    least, most = (int(100 * share) for share in sorted(result.values / variances))
    assert least < most
    said = joint_page.headline(found)
    assert said == (
        f"2 lists of 3 and 2 genes. In each, the genes move together: they share {least} to {most} % of "
        "their variance."
    )
    partial = joint_page.headline(replace(found, is_partial=True, upper=1.0625 * value))
    assert partial.startswith("2 lists of 3 and 2 genes so far.")
    assert partial.endswith("No other 2 lists explain 6.3 % more: proved so far.")
    weak = joint_page.headline(replace(found, is_partial=True, upper=1.249 * value))
    assert weak.endswith("They are at least 80.0 % of the best possible: proved so far.")
    closed = joint_page.headline(replace(found, is_partial=True, upper=value))
    assert closed.endswith("explain 0.0 % more: proved so far.")
    first = replace(result, components=result.components[:, :1], values=result.values[:1])
    asked, sweep = found.asked.but(sizes=(3,)), nspca.Sweep({("joint", 1): first})
    one = joint_page.headline(replace(found, asked=asked, sweep=sweep, k=(3,), upper=1.0625 * first.value))
    assert one.startswith("1 list of 3 genes. The genes move together") and "No other list explains" in one


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
    found = answer_of(data)
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


def test_a_column_that_is_empty_for_most_samples_groups_nothing_unasked():
    columns = {"kind": np.array(["a", "b"] * 5), "comments": np.array(["(none)"] * 8 + ["ok", "no"])}
    names = tuple("abcdefghij")
    data = Dataset("made", np.eye(10), names, names, label_columns=columns)
    assert list(samples.label_columns(data)) == ["kind"]
    assert list(samples.label_columns(data.labelled("comments"))) == ["comments", "kind"], "asked for"


def test_annotations_are_shares_between_groups_or_correlations():
    data = table(labels=np.array(["x", "y"] * 15))
    found = answer_of(data)
    scores = samples.scores_of(found)
    ages = scores[:, 1] + np.random.default_rng(0).standard_normal(30)
    links = annotations.links(scores, {"kind": data.labels, "age": ages, "id": np.arange(30).astype(str)})
    assert list(links) == ["kind", "age"], "what differs for each sample is no annotation"
    effects = nspca.group_effects(scores, np.array(["x", "y", "z"] * 10))
    assert np.allclose(annotations.shares_between(scores, np.array(["x", "y", "z"] * 10)), effects.effect)
    assert np.allclose(links["age"].strengths, np.corrcoef(ages, scores.T)[0, 1:])
    best = int(np.argmax(links["kind"].strengths))
    share = 100 * links["kind"].strengths[best]
    assert annotations.sentence("kind", links["kind"], "component") == (
        f"Component {best + 1} differs most between the 2 groups by “kind”: {share:.0f} % of its spread lies "
        "between them."
    )
    assert "goes most with age: correlation" in annotations.sentence("age", links["age"], "part")
    weak, two = annotations.Link(2, np.array([0.021, 0.03])), annotations.Link(2, np.array([0.6, 0.595]))
    assert annotations.sentence("kind", weak, "part").startswith("No part tells the 2 groups by “kind” apart")
    assert "1 and 2 differ most" in annotations.sentence("kind", two, "part")
    none = annotations.sentence("age", annotations.Link(0, np.array([-0.2, 0.1])), "part")
    assert none == "No part goes with age: the largest correlation is 0.20."
    both = annotations.sentence("age", annotations.Link(0, np.array([0.5, -0.5])), "part")
    assert both == "Parts 1 and 2 go most with age: correlation +0.50 and −0.50."
    same = annotations.links(scores, {"kind": data.labels, "again": data.labels})
    assert list(same) == ["kind"], "labels of the same groups say the same"
    html = annotations.table(links, "component")
    assert f">{share:.0f} %</td>" in html and html.count("<tr>") == 3


def test_samples_that_make_most_of_a_component_are_named():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((40, 2))
    assert samples.outliers(scores) is None
    scores[[7, 9], 1] = 40.0, -30.0
    component, rows, share = samples.outliers(scores)
    assert component == 1 and rows == [7, 9] and 0.8 < share < 1, "7 alone makes more than half of it"
    scores[7, 1] = 0.0
    assert samples.outliers(scores)[1] == [9] and samples.outliers(scores[:11]) is None
    few = [samples.outliers(rng.standard_normal((14, 5))) for _ in range(100)]
    assert few.count(None) >= 95, "three of fourteen make half of a component by chance"


def test_a_map_along_two_components_that_go_together_names_two_that_do_not():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 40))
    scores = np.column_stack([x, x + 0.1 * y, 0.2 * x + y])
    assert samples.alike(scores, (2, 1), "part").endswith("(correlation 0.99): parts 1 and 3 show more.")
    assert samples.alike(scores, (1, 3), "part") == samples.alike(scores, (2, 2), "part") == ""
    assert samples.alike(np.column_stack([x, x + 0.1 * y, 0 * x]), (1, 2), "part") == "", "no two show more"


def test_a_search_finds_features_of_components_and_others():
    found = answer_of(table())
    X = found.displayed.components
    inside, outside = int(np.argmax(np.abs(X[:, 1]))), int(np.flatnonzero(~X.any(axis=1))[0])
    assert samples._said(found, inside) == f"**gene {inside}** is in component 2, number 1 of 2 by weight."
    assert "is in no component. It goes most with component" in samples._said(found, outside)
    assert samples._matches(["a b", "B", "ab"], "b") == [1, 0, 2], "whole names come first"
    assert samples._matches(["a"], " ") == []


def test_the_thumbnail_of_every_image_is_on_the_sheet():
    data = nspca.load_sample("digits")
    sheet = samples.thumbnails(Chosen(data, DataSpec(sample="digits"), "digits"))
    raw = base64.b64decode(sheet.url.partition(",")[2])
    pixels = np.asarray(Image.open(io.BytesIO(raw)), float)
    assert pixels.shape == (sheet.rows * sheet.height, sheet.columns * sheet.width)
    row, column = divmod(1000, sheet.columns)
    tile = pixels[row * 8 : row * 8 + 8, column * 8 : column * 8 + 8]
    assert np.corrcoef(tile.ravel(), data.X[1000])[0, 1] > 0.95


def test_the_check_on_a_held_out_half_is_asked_about_the_label():
    data = table(labels=np.array(["x", "y"] * 15))
    spec = annotations.question(answer_of(data), "label")
    assert spec.label == "" and spec.sizes == (3, 2) and spec.method == "joint"
    unequal = annotations.question(answer_of(data, method="tpower"), "age")
    assert unequal.method == "joint" and unequal.label == "age", "different sizes need one that finds all"
    found = spec.run(X=data.X, labels=list(data.labels))
    said = annotations.held_out_sentence(found, "component")
    assert "not found on" in said and "p = 0.002" in said and f"on {sum(found.counts)} samples" in said
    chance = nspca.GroupEffects("eta squared", ("a", "b"), (9, 9), np.array([0.1]), np.array([0.4]))
    assert "by chance" in annotations.held_out_sentence(chance, "component")


def test_how_many_is_asked_beyond_what_is_there():
    spec = methods._choice_spec(answer_of(table(n=8), sizes=(2, 2)))
    assert (spec.ks, spec.most, spec.method, spec.draws) == ((2,), 4, "joint", 0), (
        "8 features have room for 4"
    )
    assert methods._choice_spec(answer_of(table(n=40), sizes=(2,) * 7)).most == 9


def test_the_sentence_names_the_smallest_number_that_is_as_good():
    nan = np.full(3, np.nan)
    values = np.array([1.0, 2.0, 3.0])
    choice = nspca.Choice(
        "components", np.array([1, 2, 3]), values, np.array([0.2, 0.39, 0.4]), np.full(3, 0.02), nan, nan
    )
    assert held_out.choice_sentence(choice, "part") == (
        "**3 parts** explain most of what was held out, 40.0 ± 2.0 % of its variance; **2 parts** are as "
        "good within a standard error."
    )


def test_words_of_a_topic_are_marked_as_whole_words_and_nothing_else_is_markup():
    said = topics.marked('The <b>cat</b> sat on Cats & "cat"', ["cat"])
    cat = '<mark data-word="cat">cat</mark>'
    assert said == f"The &lt;b&gt;{cat}&lt;/b&gt; sat on Cats &amp; &#34;{cat}&#34;"
    assert re.sub(r" data-word=\"[^\"]*\"", "", topics.marked("New\n York is new", ["new york", "new"])) == (
        "<mark>New\n York</mark> is <mark>new</mark>"
    )
    assert topics.marked("a.c abc", ["a.c"]) == '<mark data-word="a.c">a.c</mark> abc'
    assert topics.marked("nothing", []) == "nothing"


def test_a_long_document_is_shown_around_its_first_word():
    text = "x " * 2000 + "needle " + "y " * 2000
    said = topics.marked(text, ["needle"])
    assert '<mark data-word="needle">needle</mark>' in said and said.startswith("… ") and said.endswith(" …")
    assert len(said) < topics.SHORT + 80


def parse_gmt(content: bytes) -> dict[str, list[str]]:
    lines = [line.split("\t") for line in content.decode().splitlines()]
    return {name: genes for name, _, *genes in lines}


def test_gene_sets_are_read_back_by_a_parser():
    data = table()
    found = answer_of(data, nonneg=False, sizes=(3, 2))
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
    twice = parse_gmt(take_home.gene_sets(answer_of(table()), {("joint", 1): "same", ("joint", 2): "same"}))
    assert set(twice) == {"same", "same_2"}


def test_ranked_lists_have_every_feature_by_its_correlation():
    data = table()
    found = answer_of(data)
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
    sweep = nspca.Sweep({("joint", 2): nspca.solve(problem, "joint", certify=None)})
    found = Answer(Chosen(given, asked.data, ""), asked, problem, sweep, (3, 2), "joint")
    assert take_home.ranked_lists(found) == take_home.ranked_lists(answer_of(data))


def test_files_are_named_after_the_upload():
    def stem(**where):
        return Chosen(table(), DataSpec(**where), "").stem

    assert stem(upload="0" * 64, file="My cells (2).csv") == "My-cells-2"
    assert stem(upload="0" * 64, file="../../x';import os.csv") == "x-import-os"
    assert stem(upload="0" * 64, file="") == "upload" and stem(sample="coffee") == "coffee"
    assert stem(folder="news") == "news"


def test_weights_go_home_with_names():
    found = answer_of(table(labels=np.array(["x", "y"] * 15)))
    frame = take_home.weights(found)
    assert list(frame.columns) == ["method", "component", "rank", "feature", "weight", "share", "explained"]
    assert frame.groupby("component")["share"].sum().round(9).tolist() == [1.0, 1.0]
    files = {path: one for path, one in take_home.files(found, {}).items() if not one.alone}
    assert set(files) == {
        "tables/methods.csv",
        "tables/components.csv",
        "tables/scores.csv",
        "enrichment/components.gmt",
        "enrichment/component-1.rnk",
        "enrichment/component-2.rnk",
    }
    rows = list(csv.reader(io.StringIO(files["tables/scores.csv"].make().decode("utf-8-sig"))))
    assert rows[0][:2] == ["sample", "label"] and len(rows) == 31


def test_what_a_word_is_left_out_of_stays_until_its_run_has_something_to_show(monkeypatch):
    monkeypatch.setattr(form.st, "session_state", {form.SEEN: ("run", "the answer")})
    assert form.seen_before("run") == "the answer" and form.seen_before("another") is None
