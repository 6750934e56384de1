"""The page Parts: images split into parts by a background run, which its address finds again."""

import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.dashboard.joint import methods as joint_methods
from nspca.dashboard.joint import page as joint_page
from nspca.dashboard.joint import parts, subject, take_home
from nspca.dashboard.joint.form import read_sizes
from nspca.dashboard.joint.outcome import in_order
from nspca.dashboard.joint.page import progress_line as says
from nspca.dashboard.open_data import find
from nspca.dashboard.runs.lookup import Watched
from nspca.errors import InvalidProblem
from nspca.jobs import JobState, engine
from nspca.plots.compare import cumulative_figure, styles
from nspca.plots.joint import climb_figure, parts_figure, union_figure
from nspca.presentation.numerals import format_change
from nspca.progress import Event, silent
from nspca.specs import ComponentsSpec, DataSpec
from nspca.specs.components import one_by_one
from nspca.specs.rows import Climbed, Several, unpack
from tests.patience import wait_for

PAGE = "pages/parts.py"
SHORT = {"pictures": "digits", "r": 3, "size": "6, 6, 4", "by": "joint,tpower", "proof": "none"}
ASKED = ComponentsSpec(sizes=(4, 3), methods=("joint",), effort=None)


def test_a_question_says_how_the_data_were_prepared():
    data = DataSpec(sample="digits", prepared=["equalised"], log2=True)
    said = ComponentsSpec(data=data, sizes=(4, 4), center=False, scale=True, noun="part").describe().line
    assert "Equalised, log2(x + 1), 2 parts of 4 pixels each" in said
    assert "nonnegative, not centred, standardised" in said


@pytest.fixture
def ended():
    """Wait until the run of a page has ended, then look at the page again."""

    def wait(page, key="parts"):
        run = page.query_params[key]
        run = run if isinstance(run, str) else run[0]
        wait_for(lambda: engine().status(run).ended)
        return page.run()

    return wait


@pytest.fixture
def done(visit, ended):
    page = visit(PAGE, **SHORT)
    page.button(key="run").click().run()
    return ended(page)


@pytest.fixture
def known(reopened):
    """Return the page with finished parts, opened by its address."""
    return reopened(PAGE, "parts", **SHORT)


def test_it_opens_on_real_faces(visit, stand_ins, texts):
    page = visit(PAGE)
    assert not page.exception and not page.error
    assert page.selectbox(key="widget_pictures").value == "orl-faces"
    assert "parts" not in page.query_params
    assert page.button(key="run").label == "Find 5 parts"
    page.selectbox(key="widget_pictures").set_value("digits").run()
    assert not page.error


def test_from_run_to_parts(done, texts, alts):
    assert not done.exception and not done.error
    assert "## 3 parts of 6, 6 and 4 pixels capture " in texts(done)
    assert "How much better another choice could be is not proved yet." in texts(done)
    assert sum(alt.startswith("3 components by") for alt in alts(done)) == 1, "of the best method alone"
    done = methods_of(done)
    assert sum(alt.startswith("3 components by") for alt in alts(done)) == 3
    table = done.dataframe[0].value
    assert (
        table["method"].tolist() == ["joint", "tpower"]
        and table["features"].tolist() == [16, 16]
        and not table["shared"].any()
    )


@pytest.mark.visit
def test_every_method_that_finds_components_together_counts_as_at_once(visit, ended, texts):
    page = visit(PAGE, **{**SHORT, "by": "coordinate,tpower"})
    page.button(key="run").click().run()
    page = methods_of(ended(page))
    assert not page.exception and not page.error
    said, table = texts(page), page.dataframe[0].value.set_index("method")
    assert "**coordinate** :small[:gray[all at once, " in said
    assert "**tpower** :small[:gray[one after another, " in said
    assert table["found"].to_dict() == {"coordinate": "at once", "tpower": "one by one"}
    more = 100 * (table.loc["coordinate", "explained"] / table.loc["tpower", "explained"] - 1)
    assert (
        f"**coordinate** looks for all parts together and explains {abs(more):.1f} % "
        f"{'more' if more >= 0 else 'less'} than **tpower**" in said
    )
    assert table.loc["tpower", "gain"] == f"{'−' if more < 0 else ''}{abs(more):.1f} %"


def test_the_gain_compares_the_best_of_both_sides():
    made = lambda value: nspca.Result(np.eye(3)[:, :1], np.array([value]), nspca.Status.HEURISTIC, "")  # noqa: E731
    values = {"joint": 2.0, "coordinate": 3.0, "bipartite": 1.0, "em": 2.5, "cone": 1.5}
    assert joint_methods.gain({method: made(value) for method, value in values.items()}) == (
        "coordinate",
        "em",
        pytest.approx(0.2),
    )
    assert (
        joint_methods.gain({method: made(values[method]) for method in ("joint", "coordinate", "bipartite")})
        is None
    )


def methods_of(page):
    """Return the page with the section of all methods."""
    return page.segmented_control(key="widget_look").set_value("methods").run()


def test_the_numbers_are_those_of_the_package(known):
    known = methods_of(known)
    data = nspca.load_sample("digits")
    problem = nspca.Problem.from_data(data.X, (6, 6, 4))
    table = known.dataframe[0].value.set_index("method")
    result = one_by_one(problem, "tpower", {}, 0, silent)
    assert np.isclose(table.loc["tpower", "explained"], result.value)
    gained = table.loc["joint", "explained"] / result.value - 1
    assert table.loc["tpower", "gain"] == f"{'−' if gained < 0 else ''}{format_change(gained)}"


@pytest.mark.visit
def test_a_reload_finds_the_parts_and_the_image(done, visit, address, texts):
    done.slider(key="widget_face").set_value(7).run()
    done.slider(key="widget_using").set_value(2).run()
    again = visit(PAGE, **address(done))
    assert (
        not again.error
        and again.slider(key="widget_face").value == 7
        and again.slider(key="widget_using").value == 2
    )
    assert texts(again) == texts(done)


@pytest.mark.visit
def test_a_step_on_shows_the_next_image(done):
    done.button(key="face_on").click().run()
    assert done.slider(key="widget_face").value == 2
    done.button(key="face_back").click().run().button(key="face_back").click().run()
    assert done.slider(key="widget_face").value == 1797


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"size": "40"}, "together at most 64, the number of features, got 120 in all"),
        ({"size": "6, 6"}, "one number for all or 3 numbers, one for each, got 2"),
        ({"size": "many"}, "one whole number, or 3 of them with commas between, got"),
        ({"size": "0"}, "at least 1"),
        ({"r": "21"}, "between 1 and 20"),
    ],
)
def test_bad_sizes_are_one_sentence(visit, sentence, change, said):
    page = visit(PAGE, **{**SHORT, **change})
    assert said in sentence(page)
    assert page.text_input(key="widget_size").value == change.get("size", SHORT["size"])


def test_somebody_elses_run_is_not_shown(known, visit, address, sentence):
    sentence(visit(PAGE, **{**address(known), "w": "another"}))


@pytest.mark.parametrize(("center", "scale"), [(True, False), (False, False), (True, True)])
def test_a_reconstruction_is_the_least_squares_one(center, scale):
    rng = np.random.default_rng(0)
    X = rng.random((30, 8))
    problem = nspca.Problem.from_data(X, (3, 2), center=center, scale=scale)
    Y = one_by_one(problem, "tpower", {}, 0, silent).components
    picture, share = parts.reconstruction(X, problem, Y, 4)
    mean, spread = X.mean(axis=0) * center, X.std(axis=0) if scale else 1.0
    z = (X[4] - mean) / spread
    best = np.linalg.lstsq(Y, z, rcond=None)[0]
    assert np.allclose(picture, mean + spread * (Y @ best))
    assert np.isclose(share, 1 - np.sum((z - Y @ best) ** 2) / np.sum(z**2))


def test_one_by_one_is_what_the_package_finds():
    problem = nspca.Problem.from_data(nspca.load_sample("digits").X, (5, 5, 5))
    ours = one_by_one(problem, "tpower", {}, 3, silent)
    assert np.allclose(
        ours.components, nspca.solve(problem.with_k(5), "tpower", components=3, seed=3).components
    )


def test_rows_carry_the_components_while_the_run_goes_on():
    events = []
    X = nspca.load_sample("digits").X[:200]
    sweep = ASKED.but(methods=["joint", "tpower"]).run(events.append, X=X)
    rows = [event.payload["row"] for event in events if "row" in event.payload]
    found = joint_page.so_far(JobState("x", "running", rows=tuple(rows)), 64)
    for method in ("joint", "tpower"):
        assert np.allclose(found[method].components, sweep[method, 2].components, atol=1e-6)
        assert found[method].value == sweep[method, 2].value
    shares = [event.payload["share"] for event in events if "share" in event.payload]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1


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
    monkeypatch.setattr(joint_page.headline, "show", shown.append)
    view = SimpleNamespace(rows=lambda outcome: None)
    page = joint_page.JointPage(subject.PARTS, view)
    now = JobState("x", "running", rows=rows_of(events))
    page.filling(Watched("x", find(asked.data, None), asked, now), now)
    (outcome,) = shown
    assert outcome.sizes == "3 parts, each of 10 pixels" and outcome.live
    assert outcome.results["tpower"].components.shape == (64, 3)


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


def test_the_axes_of_the_climb_are_there_at_once_and_only_double():
    ends = [climb_figure(*given).layout for given in (([], []), ([1.0], [50.0]), ([1.0, 11.0], [50.0, 51.0]))]
    assert [(list(one.xaxis.range), list(one.yaxis.range)) for one in ends] == [
        ([0, 5], [0, 1]),
        ([0, 5], [0, 1]),
        ([0, 20], [0, 4]),
    ]
    assert ends[0].meta["alt"].endswith("nothing yet.") and "2 % after 11 s" in ends[2].meta["alt"]


def test_a_method_that_cannot_says_why_and_the_others_go_on():
    request = ASKED.but(methods=["spanspca", "tpower"])
    events = []
    content = request.run(events.append, X=nspca.load_sample("digits").X[:50])
    rows = tuple(event.payload["row"] for event in events if "row" in event.payload)
    assert "no nonnegative form" in joint_page.failures(JobState("x", "running", rows=rows))["spanspca"]
    assert list(content) == [("tpower", 2)]
    with pytest.raises(nspca.errors.InvalidOption):
        request.but(methods=["spanspca"]).run(X=np.eye(9))


def test_a_worker_refuses_what_the_package_refuses():
    X = nspca.load_sample("digits").X[:50]
    request = ASKED.but(nonneg=False, methods=["coordinate", "nmf", "tpower"])
    events = []
    content = request.run(events.append, X=X)
    rows = tuple(event.payload["row"] for event in events if "row" in event.payload)
    failures = joint_page.failures(JobState("x", "running", rows=rows))
    problem = nspca.Problem.from_data(X, (4, 3), nonneg=False)
    with pytest.raises(nspca.errors.InvalidOption) as refused:
        nspca.solve(problem, "coordinate")
    assert failures == {
        "coordinate": str(refused.value),
        "nmf": nspca.METHODS["nmf"].refusal(problem.with_k(4)),
    }
    assert list(content) == [("tpower", 2)]


@pytest.mark.parametrize("method", [name for name, line in nspca.METHODS.items() if line.joint])
def test_a_worker_finds_together_what_the_package_finds_together(method):
    X = nspca.load_sample("digits").X[:60]
    content = ASKED.but(methods=[method]).run(X=X)
    ours = content[method, 2]
    direct = nspca.solve(nspca.Problem.from_data(X, (4, 3)), method, certify=None)
    assert np.array_equal(ours.components, direct.components) and ours.info == direct.info


def ky_fan(problem, result, components, effort, report):
    """Return the simplest joint certificate: the sum of the leading eigenvalues."""
    values, vectors = problem.covariance.leading(components)
    witness = {
        "U": vectors[:, :-1] * np.sqrt(values[:-1] - values[-1]),
        "claims": np.array([values[-1] * (1 + 1e-7), 0.0]),
    }
    return nspca.Certificate.of(problem, "B4", "joint", float(values.sum()) * (1 + 1e-6), witness)


def test_one_proof_is_about_every_method_and_survives_the_store(monkeypatch):
    monkeypatch.setattr("nspca.specs.components.certify", ky_fan)
    X = nspca.load_sample("digits").X[:200]
    request = ASKED.but(methods=["joint", "tpower"], effort="fast")
    sweep = request.run(X=X)
    for method, r in sweep:
        result = sweep[method, r]
        assert nspca.verify(X, result.certificate) <= result.certificate.upper and 0 < result.ratio < 1


def test_components_stay_when_nothing_can_be_proved(monkeypatch):
    def refuse(*args, **options):
        raise nspca.errors.NotConverged("no bound today")

    monkeypatch.setattr("nspca.specs.components.certify", refuse)
    events = []
    request = ASKED.but(methods=["tpower"], effort="fast")
    content = request.run(events.append, X=nspca.load_sample("digits").X[:50])
    assert content["tpower", 2].certificate is None
    rows = tuple(event.payload["row"] for event in events if "row" in event.payload)
    assert joint_page.failures(JobState("x", "done", rows=rows)) == {"proof": "no bound today"}


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


def test_exports_open_without_pickle(known):
    assert [button.label for button in known.get("download_button")] == [
        "Parts, CSV",
        "Parts, NPZ",
        "Scores, CSV",
        "Methods, CSV",
        "JSON",
    ]


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


def test_components_are_sorted_without_changing_what_they_explain():
    X = np.array([[-0.6, 0.0], [-0.8, 0.0], [0.0, 1.0]])
    shown = {
        m: in_order(nspca.Result(X, np.array([1.0, 2.0]), nspca.Status.HEURISTIC, m))
        for m in ("joint", "tpower")
    }
    assert np.array_equal(shown["joint"].components, X[:, ::-1]) and shown["joint"].values.tolist() == [2, 1]
    assert np.array_equal(shown["tpower"].components, X) and shown["tpower"].values.tolist() == [1, 2]


def test_every_weight_is_drawn_where_its_pixel_is():
    X = np.zeros((6, 9))
    X[[0, 5, 2], [0, 1, 8]] = 1.0, 0.5, 0.25
    drawn = np.array(parts_figure(X, (2, 3), name="joint").data[1].z)
    found = {(int(i), int(j)): float(drawn[i, j]) for i, j in np.argwhere(np.isfinite(drawn))}
    # three rows of caption above each line of eight pictures; three pixels, then a gap of one
    assert found == {(3, 0): 1.0, (4, 6): 0.5, (8, 2): 0.25}


def test_every_pixel_of_the_union_has_the_colour_of_its_part():
    X = np.zeros((6, 2))
    X[[0, 5], 0], X[2, 1] = (0.8, 0.4), 1.0
    _, first, second = union_figure(X, (2, 3), mean=np.arange(6.0), name="joint").data
    assert {
        (int(i), int(j)): float(np.array(first.z)[i, j]) for i, j in np.argwhere(np.isfinite(first.z))
    } == {(0, 0): 1.0, (1, 2): 0.5}
    assert (
        np.argwhere(np.isfinite(second.z)).tolist() == [[0, 2]]
        and first.colorscale[1][1] != second.colorscale[1][1]
    )


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


def test_parts_are_told_apart_without_colour():
    X = np.zeros((6, 2))
    X[[0, 5], 0], X[2, 1] = (0.8, 0.4), 1.0
    figure = union_figure(X, (2, 3), name="joint")
    assert numbers_of(figure) == {(0, 0): 1, (1, 2): 1, (0, 2): 2}, "every pixel of a small image"
    (border,) = figure.layout.shapes
    # Each of three single pixels has four sides, and two of them touch along one.
    assert len(sides_of(border.path)) == 3 * 4 - 1
    assert ((1.5, 0.5), (2.5, 0.5)) in sides_of(border.path), "between the touching pixels of two parts"


def test_of_a_large_image_each_piece_of_a_part_has_a_number():
    weights = np.zeros((12, 12))
    weights[1:4, 1:4], weights[2, 2], weights[9, 9:11] = 0.2, 0.5, (0.1, 0.3)
    figure = union_figure(weights.reshape(-1, 1), (12, 12), name="joint")
    assert numbers_of(figure) == {(2, 2): 1, (9, 10): 1}
    assert len(sides_of(figure.layout.shapes[0].path)) == 12 + 6
    assert not union_figure(np.zeros((4, 1)), (2, 2), name="joint").layout.shapes


def test_an_image_grows_part_by_part_and_more_is_explained_each_time(known, texts, alts):
    grown = next(alt for alt in alts(known) if alt.startswith("Images side by side: mean, "))
    explained = [float(part.split(": ")[1].removesuffix(" %")) for part in grown.split(", ")[1:-1]]
    assert len(explained) == 3 and explained == sorted(explained)
    assert "explained so far" in texts(known)
    assert any("in one image: 16 of 64 pixels are in one of them" in alt for alt in alts(known))
    known.toggle(key="widget_over").set_value(False).run()
    assert not known.error and not known.exception and known.query_params["over"]


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


def test_progress_names_the_method():
    asked = ComponentsSpec(sizes=(4, 4), methods=("joint", "cone"))
    event = Event("kicks", 3, 20, lower=12.0, payload={"method": "joint", "share": 0.1})
    assert (
        says(asked, JobState("x", "running", event=event))
        == "0 of 2 methods ready; joint: changing the best answer at random, 3 of 20"
    )
    proof = Event("joint proof", 3, 20, lower=12.0, upper=12.5, payload={"method": "proof"})
    said = says(asked, JobState("x", "running", event=proof))
    assert said == "0 of 2 methods ready; proving how good the best of them is"
    with pytest.raises(InvalidProblem, match="got 'nothing'"):
        read_sizes("", 2, 10)


def test_a_sparse_image_is_taken_apart_like_a_dense_one():
    rng = np.random.default_rng(0)
    X = rng.random((30, 8)) * (rng.random((30, 8)) < 0.5)
    problem = nspca.Problem.from_data(X, (3, 2), scale=True)
    Y = one_by_one(problem, "tpower", {}, 0, silent).components
    dense, sparse = (parts.reconstruction(Z, problem, Y, 4) for Z in (X, sp.csr_array(X)))
    assert np.allclose(dense[0], sparse[0]) and np.isclose(dense[1], sparse[1])


@pytest.mark.parametrize("extra", [{"image_shape": np.array([4, 5])}, {"wavelength_um": np.arange(20.0)}])
def test_pages_open_on_a_sparse_file_of_images_or_spectra(visit, address, texts, extra):
    rng = np.random.default_rng(0)
    X, stream = sp.csr_array(rng.random((30, 20)) * (rng.random((30, 20)) < 0.5)), io.BytesIO()
    names = {"format": np.array("csr"), "shape": np.array(X.shape)}
    np.savez(stream, data=X.data, indices=X.indices, indptr=X.indptr, **names, **extra)
    page = visit("pages/data.py", source="upload")
    page.file_uploader[0].upload("made.npz", stream.getvalue())
    page.run()
    where = {name: address(page)[name] for name in ("w", "upload")}
    path, key = (PAGE, "pictures") if "image_shape" in extra else ("pages/components.py", "table")
    for page, more in (("pages/data.py", {}), ("pages/sweep.py", {}), (path, {key: "mine", "proof": "none"})):
        opened = visit(page, source="upload", **where, **more)
        assert not opened.exception and not opened.error, page
    opened.button(key="run").click().run()
    run = address(opened)["parts" if key == "pictures" else "components"]
    wait_for(lambda: engine().status(run).ended)
    opened.run()
    assert not opened.exception and not opened.error
    if key == "pictures":
        assert "The original is " in texts(opened)
