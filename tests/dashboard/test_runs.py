"""The page Runs: descriptions, links, renaming, deleting and restoring of runs."""

import json
import re
import time
from datetime import UTC, datetime
from html import unescape
from xml.etree import ElementTree

import pytest
import segno

import nspca
from nspca import specs
from nspca.dashboard.app import links, times
from nspca.dashboard.history import descriptions
from nspca.dashboard.history.descriptions import DescribedRun, describe_runs, proved
from nspca.dashboard.history.page import OF_A_PAGE
from nspca.dashboard.joint.form import COMPONENTS
from nspca.dashboard.open_data import find
from nspca.dashboard.runs.start import own_page
from nspca.dashboard.runs.tasks import TASKS
from nspca.dashboard.sweep.form import SWEEP
from nspca.jobs import engine, new_workspace
from nspca.jobs.job import Job
from nspca.specs import DataSpec
from nspca.specs.rows import Closer, Found, Proved, Several, pack

PAGE = "pages/runs.py"
DATA = DataSpec(sample="pitprops", content="content")
ASKED = {
    "sweep": specs.SweepSpec(data=DATA, ks=(2, 4, 6)),
    "optimum": specs.OptimumSpec(data=DATA, k=4),
    "answers": specs.AnswersSpec(data=DATA, k=4),
    "check": specs.CheckSpec(data=DATA, k=3),
    "components": specs.ComponentsSpec(data=DATA, sizes=(3, 3), methods=("joint",), effort="fast"),
    "comparison": specs.ComparisonSpec(data=DATA, ks=(2, 4), methods=("auto", "em")),
    "stability": specs.StabilitySpec(data=DATA, k=4, methods=("em",)),
    "groups": specs.GroupsSpec(data=DATA, sizes=(3, 3)),
    "choice": specs.ChoiceSpec(data=DATA, ks=(2, 4)),
    "noise": specs.NoiseSpec(data=DATA, k=4),
    "paper": specs.PaperSpec(item="sigg2008-figure-4", files="f"),
}
SWEPT = ASKED["sweep"]
KINDS = {"sweep": SWEEP, "components": COMPONENTS}


@pytest.fixture
def workspace():
    return new_workspace()


def plant(
    workspace,
    task="sweep",
    state="done",
    given=None,
    title="Pitprops, something",
    number=0,
    rows=(),
    result=b"",
    error="",
    page=None,
):
    """Store a run as the engine would have left it."""
    given = ASKED.get(task) if given is None else given
    page = (
        own_page(KINDS[task], given)
        if page is None and isinstance(given, specs.Spec) and task in KINDS
        else page
    )
    plain = {"spec": given.to_plain()} if isinstance(given, specs.Spec) else given
    store, given = engine().store, json.dumps(plain)
    run, _ = store.add_run(workspace, f"{workspace} {task} {number}", title, task, given, page or "")
    said = json.dumps([pack(row)["row"] for row in rows])
    if state not in ("queued", "running"):
        kept = (f"{workspace} {task} {number}", result) if result else None
        store.finish_runs([run], state, started=time.time() - 3, rows=said, error=error, result=kept)
    else:
        engine()._runs[run] = Job(run, task, given, people={run: workspace})
    return run


def told(workspace) -> dict[str, DescribedRun]:
    return {one.spec.kind: one for one in describe_runs(engine().store.list_runs(workspace))}


def test_every_task_is_told_in_words(workspace):
    assert {*ASKED, "membership"} == set(TASKS), "that one is nobody's run"
    for task in ASKED:
        plant(workspace, task)
    lines = {task: one.line for task, one in told(workspace).items()}
    assert lines["sweep"] == "Pitprops · sweep k = 2 to 6 in steps of 2 · nonnegative · auto"
    assert lines["components"] == "Pitprops · 2 components of 3 features each · nonnegative · joint"
    assert lines["comparison"] == "Pitprops · comparison of 2 methods, k = 2, 4 · nonnegative · auto, em"
    assert lines["optimum"] == "Pitprops · is it the best? k = 4 · nonnegative"
    assert lines["answers"].startswith("Pitprops · all good answers, k = 4 · nonnegative")
    assert lines["check"] == "Pitprops · check of a proof, k = 3 · nonnegative"
    assert lines["stability"] == "Pitprops · rows drawn again, k = 4 · nonnegative · em"
    assert lines["choice"] == "Pitprops · rows held out and drawn again, k = 2, 4 · nonnegative · auto"
    assert lines["noise"] == "Pitprops · shuffled tables, k = 4 · nonnegative · auto"
    assert lines["paper"] == "Sigg, Buhmann 2008 · Figure 4: Choosing genes"


def test_what_is_kept_is_shown(workspace, visit, texts):
    plant(workspace, "sweep", result=b"x" * 2000)
    assert "1 result, 2 kB of 5.0 GB. Each is kept for 365 days" in texts(visit(PAGE, w=workspace))


def test_a_sweep_of_any_values_of_k(workspace):
    for number, ks in enumerate(((2, 4, 6), (1, 2, 5), (*range(1, 10), 20), (7,))):
        plant(workspace, given=SWEPT.but(ks=ks), number=number)
    said = [
        (one.spec.describe().question, one.query["from"], one.query["to"], one.query.get("step"))
        for one in describe_runs(engine().store.list_runs(workspace))
    ]
    assert said == [
        ("sweep k = 7", "7", "7", "1"),
        ("sweep 10 values of k from 1 to 20", "1", "20", None),
        ("sweep k = 1, 2, 5", "1", "5", None),
        ("sweep k = 2 to 6 in steps of 2", "2", "6", "2"),
    ]


def test_a_run_leads_to_the_page_that_it_was_started_on(ran, address):
    page = ran("pages/sweep.py", sample="digits", **{"from": 2, "to": 3, "k": 2})
    page.button(key="noise").click().run()
    said = {one.spec.kind: one for one in describe_runs(engine().store.list_runs(address(page)["w"]))}
    assert {one.page for one in said.values()} == {"pages/sweep.py"}
    query = {kind: one.query for kind, one in said.items()}
    assert query["noise"]["run"] == query["sweep"]["run"] == said["sweep"].run.id
    assert query["noise"]["k"] == str(said["noise"].spec.k) and "w" not in query["noise"]
    engine().cancel(said["noise"].run.id)


def test_a_run_of_a_page_opens_with_its_question(workspace):
    runs = {task: plant(workspace, task) for task in KINDS}
    query = {kind: one.query for kind, one in told(workspace).items()}
    assert (query["sweep"]["run"], query["sweep"]["step"]) == (runs["sweep"], "2")
    assert (query["components"]["components"], query["components"]["size"]) == (runs["components"], "3")
    assert query["components"]["sample"] == "pitprops"


def test_options_are_there_again_when_a_run_is_opened(workspace, visit):
    changed = {"bipartite": {"samples": 70, "climbs": 2}, "em": {"restarts": 3, "starts": "paper"}}
    by = list(changed)
    plant(workspace, "components", given=ASKED["components"].but(methods=by, options=changed))
    one = told(workspace)["components"]
    page = visit(one.page, w=workspace, **one.query)
    assert not page.exception and page.number_input(key="widget_opts_em_restarts").value == 3
    assert page.selectbox(key="widget_opts_em_starts").value == "paper"
    assert page.number_input(key="widget_opts_bipartite_samples").value == 70
    assert page.number_input(key="widget_opts_bipartite_climbs").value == 2


@pytest.mark.parametrize("page", ["", "sweep?run=another", "../etc?k=3", "nowhere?k=3"])
def test_a_run_without_a_page_that_is_there_leads_to_none(workspace, page):
    plant(workspace, "noise", page=page)
    assert told(workspace)["noise"].page is None


def test_a_damaged_run_takes_no_other_with_it(workspace):
    plain = SWEPT.to_plain()
    plant(workspace, "sweep", given={"spec": {name: plain[name] for name in plain if name != "ks"}})
    plant(workspace, "optimum", given=ASKED["optimum"].but(seconds=0))
    damaged, proof = sorted(
        describe_runs(engine().store.list_runs(workspace)), key=lambda one: isinstance(one, DescribedRun)
    )
    assert (
        not isinstance(damaged, DescribedRun)
        and proof.line.startswith("Pitprops · a tighter proof")
        and proof.page is None
    )


ODD = ("<b>", -3, 10**30, None, [], {"a": [{}]})


def put(value, odd):
    """Return a nested dict of the same shape as `value`, with `odd` in place of every leaf."""
    return {name: put(item, odd) for name, item in value.items()} if isinstance(value, dict) else odd


@pytest.mark.visit
def test_whatever_is_stored_is_a_line_and_no_error(visit, texts, workspace):
    for number, odd in enumerate(ODD):
        for task in ASKED:
            given = {"spec": put(ASKED[task].to_plain(), odd) | {"kind": task}}
            plant(workspace, task, given=given, number=number)
    for task in ASKED:
        plant(workspace, task, given=dict(zip(("spec", "X"), ODD, strict=False)), number=100)
    with engine().store._writing() as db:
        db.execute(
            "UPDATE runs SET created = 1e300, rows = '[[' WHERE workspace = ? AND function = 'sweep'",
            (workspace,),
        )
    count = len(ASKED) * (len(ODD) + 1)
    for listed in range(1, 2 + count // OF_A_PAGE):
        page = visit(PAGE, w=workspace, listed=listed, find="e")
        assert not page.exception and not page.error, [error.value for error in page.error]
        assert len(page.get("popover")) + texts(page).count("cannot be read") == min(
            OF_A_PAGE, count - OF_A_PAGE * (listed - 1)
        )
    home = visit(w=workspace)
    assert not home.error, [error.value for error in home.error]


def test_an_upload_is_called_by_its_file_and_opened_as_it_was_read(workspace):
    data = DataSpec(
        upload="abc",
        file="genes.csv",
        id_column="name",
        features_in_rows=True,
        missing="mean",
        log2=True,
        prepared=["off-first"],
    )
    plant(workspace, given=SWEPT.but(data=data, scale=True, nonneg=False))
    one = told(workspace)["sweep"]
    assert (
        one.line.startswith("genes, means for missing values, First component out, log2(x + 1) · ")
        and "weights of any sign · standardised · auto" in one.line
    )
    wanted = {"upload": "abc", "id": "name", "rows": "1", "gaps": "mean", "log": "1", "prep": "off-first"}
    assert wanted.items() | {"scale": "1", "signed": "1"}.items() <= one.query.items()


def test_a_covariance_is_not_prepared_and_leaves_centring_as_it_is(workspace):
    table = DataSpec(sample="digits")
    for task in ("sweep", "components"):
        noun = {"noun": "topic"} if task == "components" else {}
        plant(workspace, task, given=ASKED[task].but(center=False, **noun))
        plant(workspace, task, given=ASKED[task].but(center=False, data=table, **noun), number=1)
    said = describe_runs(engine().store.list_runs(workspace))
    assert (
        ["not centred" in one.line for one in said]
        == ["center" in one.query for one in said]
        == [True, False] * 2
    )
    assert ["raw" in one.query for one in said if one.spec.kind == "components"] == [True, False]


def test_the_worst_and_the_best_proof_over_k():
    assert proved([]) is None and proved([Found("auto", 2, 1.0)]) is None
    assert proved(
        [Found("auto", 2, 1.0, ratio=0.9), Found("em", 2, 0.9, ratio=0.8), Found("auto", 3, 1.0, ratio=0.95)]
    ) == (0.9, 0.95)
    assert proved([Found("auto", 2, 1.0), Found("em", 2, 2.0), Proved(2, 4.0, "B1")]) == (0.5, 0.5)
    assert proved([Closer(1.0, 1.0, 4.0, "standard"), Closer(2.0, 1.0, 2.0, "thorough")]) == (0.5, 0.5)


def test_moments_in_words():
    now = datetime(2026, 3, 12, 15, 0, tzinfo=UTC).timestamp()
    spoken = [times.when(now - back, now, UTC) for back in (3600, 86400, 5 * 86400, 400 * 86400)]
    assert spoken == ["today 14:00", "yesterday 15:00", "7 March 15:00", "5 February 2025"]
    assert [times.how_long(s) for s in (0.44, 9.97, 59.4, 200, 7500)] == [
        "0.4 s",
        "10 s",
        "59 s",
        "3 min 20 s",
        "2 h 5 min",
    ]
    assert (
        times.zone("Europe/Vienna") is not None
        and times.zone("../etc/passwd") is None
        and times.zone(None) is None
    )


def test_an_empty_list_says_what_to_do(visit, texts, workspace):
    plant(workspace)
    page = visit(PAGE)
    assert not page.exception and "You have no runs yet." in texts(page)
    assert "What a page answers before you ask is not listed" in texts(page)
    assert "w" not in page.query_params
    other = new_workspace()
    engine().store.put_upload(other, b"1,2", {"file": "mine.csv", "name": "mine"})
    page = visit(PAGE, w=other)
    assert not page.exception and "You have no runs yet" in texts(page), "none of another workspace"
    (link,) = [one.proto for one in page.get("page_link") if "Your own files" in one.proto.label]
    assert "mine" in link.label and "source=upload" in link.query_string
    assert "Your data" not in texts(page)


def test_the_answers_about_the_file_in_use_are_one_click_away(visit, texts, workspace):
    digest = engine().store.put_upload(workspace, b"1,2", {"file": "mine.csv", "name": "mine"})
    for planted in (False, True):
        if planted:
            plant(workspace)
        page = visit(PAGE, w=workspace, upload=digest, rows="1")
        assert not page.exception and "Your data: **mine" in texts(page)
        links = {one.proto.label: one.proto for one in page.get("page_link")}
        for label, path in {"Its answer on Sweep": "sweep", "Its answer on Components": "components"}.items():
            assert path in links[label].page and f"upload={digest}" in links[label].query_string
            assert "rows=1" in links[label].query_string, "read as it is now"


def test_runs_of_every_kind_in_one_list(visit, texts, workspace):
    plant(
        workspace,
        "sweep",
        rows=[Found("auto", 2, 1.0, ratio=0.986), Found("auto", 4, 1.0, ratio=1.0)],
        result=b"x",
    )
    plant(workspace, "comparison", "failed", error="k is *too* large")
    plant(workspace, "components", "cancelled", title="CBCL, 2 parts")
    plant(workspace, "paper", "interrupted")
    plant(workspace, "noise", "queued")
    plant(workspace, "nothing known")
    plant(workspace, "sweep", number=1, given={"spec": {"first": "x"}})
    plant(workspace, "sweep", number=2, given=[1])
    found = [Found("auto", 2, 1.0, ratio=0.97), Found("auto", 4, 1.0, ratio=1.0)]
    plant(workspace, "sweep", "cancelled", number=3, rows=found)
    page = visit(PAGE, w=workspace)
    assert not page.exception and not page.error
    said = unescape(texts(page))
    assert (
        "today" in said
        and "took 3.0 s" in said
        and "proved: at least 98.6 % of the best possible at every k" in said
        and "proved: at least 97.0 % of the best possible at each of these" in said
    )
    assert all(f"[{state}]" in said for state in ("done", "failed", "cancelled", "interrupted"))
    assert "k is *too* large" in said and said.count("This run cannot be read") == 3
    keys = {button.key.partition("_")[0] for button in page.button}
    assert {"again", "cancel", "delete"} <= keys


def test_a_name_deletion_and_undo(visit, texts, workspace):
    run = plant(workspace, result=b"x")
    page = visit(PAGE, w=workspace, run=run, before=run)
    page.text_input(key=f"name_{run}").set_value("  my *own*  name ").run()
    assert (
        "my *own* name" in unescape(texts(page))
        and engine().store.open_run(workspace, run).name == "my *own* name"
    )
    page.button(key=f"delete_{run}").click().run()
    assert (
        "1 run deleted" in texts(page)
        and "You have no runs yet" in texts(page)
        and not {"run", "before"} & set(page.query_params)
    )
    page.button(key=f"undo_{run}").click().run()
    assert "my *own* name" in unescape(texts(page)) and "deleted" not in texts(page)
    page.button(key=f"delete_{run}").click().run()
    engine().store.forget_deleted(0)
    page.button(key=f"undo_{run}").click().run()
    assert "deleted too long ago" in unescape(page.error[0].value)
    assert not page.run().error


def test_many_runs_come_a_page_at_a_time_and_are_searched(visit, texts, workspace):
    for number in range(OF_A_PAGE + 3):
        plant(
            workspace,
            number=number,
            given=SWEPT.but(ks=[2, 4, 6 + number]),
            state="failed" if number == 4 else "done",
        )
    page = visit(PAGE, w=workspace)
    assert texts(page).count("sweep k") == OF_A_PAGE and "Page 1 of 2, 28 runs" in texts(page)
    page.button(key="turn_Older").click().run()
    assert texts(page).count("sweep k") == 3
    page.text_input(key="widget_find").set_value("Failed pitprops").run()
    assert texts(page).count("sweep k") == 1 and "listed" not in page.query_params
    page.text_input(key="widget_find").set_value("nowhere").run()
    assert "No run says that" in texts(page)


def test_two_sweeps_side_by_side(visit, address, texts, workspace):
    of = find(DataSpec(sample="pitprops"), None)
    runs = []
    for number, nonneg in enumerate((True, False)):
        sweep = nspca.sweep(nspca.Problem.from_covariance(of.dataset.X, k=1, nonneg=nonneg), [2, 4])
        spec = specs.SweepSpec(data=of.spec, ks=(2, 4), nonneg=nonneg, center=False)
        runs.append(plant(workspace, given=spec, number=number, result=sweep.to_bytes()))
    page = visit(PAGE, w=workspace, first=runs[0], second=runs[1])
    assert not page.exception and not page.error
    link = next(part for part in page.get("page_link") if "figure" in part.proto.label)
    opened = visit("pages/sweep.py", **dict(part.split("=") for part in link.proto.query_string.split("&")))
    assert not opened.exception and not opened.error
    assert (address(opened)["before"], address(opened)["run"], address(opened)["signed"]) == (
        runs[0],
        runs[1],
        "1",
    )
    assert "same run twice" in texts(visit(PAGE, w=workspace, first=runs[0], second=runs[0]))


def test_a_link_opens_a_run_whatever_was_chosen_before(visit, workspace, address):
    run = plant(workspace, result=b"x")
    page = visit("pages/sweep.py", w=workspace, sample="digits", k=7, log=1, axis="total", anew=1, run=run)
    assert address(page) == {
        "w": workspace,
        "sample": "digits",
        "k": "7",
        "log": "1",
        "axis": "total",
        "run": run,
    }
    page.query_params["anew"], page.query_params["sample"] = "1", "pitprops"
    for name in ("k", "log"):
        del page.query_params[name]
    page.run()
    assert address(page) == {"w": workspace, "sample": "pitprops", "axis": "total", "run": run}


CSV = b"name,left,right,top\nx,1,2,3\ny,3,5,1\nz,4,1,2\nu,2,2,8\n"


@pytest.fixture(scope="module")
def shared():
    """Return a workspace with a finished sweep of an upload, and one of a sample."""
    workspace = new_workspace()
    digest = engine().store.put_upload(workspace, CSV, {"file": "secret.csv", "name": "secret"})
    runs = []
    for number, where in enumerate((DataSpec(sample="pitprops"), DataSpec(upload=digest))):
        of = find(where, workspace)
        problem = nspca.Problem.from_covariance if of.dataset.is_covariance else nspca.Problem.from_data
        sweep = nspca.sweep(problem(of.dataset.X, k=1), [1, 2])
        spec = specs.SweepSpec(data=of.spec, ks=(1, 2), center=not of.dataset.is_covariance)
        runs.append(plant(workspace, given=spec, number=number, result=sweep.to_bytes()))
    return workspace, *runs


def everything(page, texts) -> str:
    """Return all texts, links and stored values of a page."""
    return (
        f"{texts(page)} {page.query_params} {[link.proto for link in page.get('page_link')]} "
        f"{page.session_state['kept']}"
    )


@pytest.mark.parametrize("which", [1, 2])
def test_a_shared_run_is_seen_without_its_workspace(visit, texts, shared, which):
    workspace, run = shared[0], shared[which]
    share = engine().store.share_run(workspace, run)
    page = visit("pages/shared.py", share=share)
    assert not page.exception and not page.error
    assert "best possible, proved" in texts(page) and "w" not in page.query_params
    said = everything(page, texts)
    assert workspace not in said and run not in said
    assert ("uploaded by whoever shared" in texts(page)) == (which == 2)
    assert not any(button.key == "pin" for button in page.button)
    offered = [button.proto.label for button in page.get("download_button")]
    assert "Certificate, NPZ" in offered and "Data, NPZ" not in offered
    with_own = visit("pages/shared.py", share=share, w=new_workspace())
    assert not with_own.error and workspace not in everything(with_own, texts)


def test_who_was_shown_a_run_goes_on_in_a_workspace_of_their_own(visit, texts, shared):
    share = engine().store.share_run(shared[0], shared[1])
    page = visit("pages/shared.py", share=share)
    link = next(part for part in page.get("page_link") if part.proto.label.startswith("Go on"))
    own = visit("pages/sweep.py", **dict(part.split("=") for part in link.proto.query_string.split("&")))
    assert not own.exception and not own.error
    assert own.number_input(key="widget_to").value == 2 and "share" not in own.query_params


def test_a_link_for_others_ends_with_the_run(visit, shared, sentence):
    workspace, run = shared[0], plant(shared[0], number=7, result=b"x")
    share, page = engine().store.share_run(workspace, run), visit(PAGE, w=workspace)
    page.button(key=f"delete_{run}").click().run()
    assert "leads to no run" in unescape(sentence(visit("pages/shared.py", share=share)))
    assert "leads to no run" in unescape(sentence(visit("pages/shared.py")))
    assert "leads to no run" in unescape(sentence(visit("pages/shared.py", share=run)))


def test_a_qr_code_holds_the_address():
    address = "http://10.0.0.7:8501/shared?share=" + "x" * 22
    svg, modules = ElementTree.fromstring(links.picture(address)), segno.make(address, micro=False).matrix
    lines = "".join(path.get("d") for path in svg.iter() if path.get("stroke"))
    dark = sum(int(length) for length in re.findall(r"h(\d+)", lines))
    assert dark == sum(map(sum, modules)) and svg.get("width") == svg.get("height")


SMALL = [
    (
        "sweep",
        [
            Found("auto", 2, 1.0, 1.5),
            Found("auto", 4, 2.0, 2.0),
            Found("em", 2, 0.5),
            Found("em", 4, 1.0),
        ],
        3,
    ),
    ("comparison", [Found("auto", 2, 1.0)], 2),
    ("optimum", [Closer(0.1, 1.0, 2.0, "fast"), Closer(0.5, 1.0, 1.5, "fast")], 2),
    ("components", [Several("joint", [1.0, 2.0], 0.1, [[[0, 2], [0.6, 0.8]], [[5], [1.0]]])], 4),
    ("components", [Several("joint", [1.0], 0.1, None)], None),
    ("sweep", [Found("auto", 2, "nonsense")], None),
    ("check", [], None),
]
"""A kind of run, the rows that it stored, and the shapes of its thumbnail."""


def test_thumbnails_are_drawn_from_the_stored_rows(visit):
    workspace = new_workspace()
    for number, (task, rows, _) in enumerate(SMALL):
        plant(workspace, task, rows=rows, number=number)
    described = describe_runs(engine().store.list_runs(workspace))[::-1]
    for one, (task, rows, shapes) in zip(described, SMALL, strict=True):
        assert one.spec.kind == task
        drawn = descriptions.draw_small(one, rows)
        assert drawn is None if shapes is None else len(list(ElementTree.fromstring(drawn[0]))) == shapes
        assert drawn is None or re.search(r"\d", drawn[1])
    page = visit(PAGE, w=workspace)
    assert not page.exception and not page.error
    assert len(page.get("image")) == sum(shapes is not None for *_, shapes in SMALL)


def test_features_that_were_left_out_are_told_and_lead_back():
    for how, name in (("without", "out"), ("only", "only")):
        told = told_of({"sample": "pitprops", how: [0, 1]})
        assert f"{how} 2 features" in told.line and told.query[name] == "0,1"
    assert not isinstance(told_of({"sample": "pitprops", "only": ["a"]}), DescribedRun)
    told = told_of({"sample": "pitprops", "without": [2], "together": [[0, 1], [5, 6, 7]]})
    assert "without 1 feature, 2 features as one, 3 features as one" in told.line
    assert (told.query["out"], told.query["one"]) == ("2", "0,1~5,6,7")
    assert not isinstance(told_of({"sample": "pitprops", "together": [3]}), DescribedRun)


def test_features_that_must_be_in_are_told_and_lead_back():
    told = told_of({"sample": "pitprops"}, forced=[1, 3], keep=[2, 4])
    assert "nonnegative · keeping 2 features" in told.line and told.query["keep"] == "2,4"
    assert "keep" not in told_of({"sample": "pitprops"}).query
    assert not isinstance(told_of({"sample": "pitprops"}, forced=3), DescribedRun)


def told_of(data, **more):
    workspace = new_workspace()
    given = {"spec": {"kind": "sweep", "ks": [2, 4], "data": data, **more}}
    try:
        page = own_page(SWEEP, specs.Spec.from_plain(given["spec"]))
    except nspca.errors.InvalidOption:
        page = ""
    plant(workspace, given=given, page=page)
    return describe_runs(engine().store.list_runs(workspace))[0]
