"""Folders of shards that an operator names: listed, sampled, and nothing beside them."""

import io
import json
import time
import zipfile
from functools import partial

import numpy as np
import plotly.graph_objects as go
import pytest

import nspca
from nspca.dashboard import open_data, open_folder
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep.archive import taken
from nspca.errors import Cancelled, InvalidData
from nspca.shards import served as shelf
from nspca.shards.served import opened, served
from nspca.specs import CheckSpec, ComponentsSpec, DataSpec, SweepSpec, job
from nspca.specs import data as steps
from tests.rowblocks import counts, folder_of

DATA = "pages/data.py"
PLAIN = {"nonneg": True, "center": True, "scale": False}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder with the shards "news", a hidden copy, a link to others, and what is no shards."""
    X = counts(np.random.default_rng(0), 60, 40, words=6)
    place = tmp_path / "served"
    (place / "empty").mkdir(parents=True)
    (place / "file").write_text("")
    folder_of(X, place / "news", 7)
    folder_of(X, tmp_path / "secret", 7)
    folder_of(X, place / ".hidden", 7)
    (place / "link").symlink_to(tmp_path / "secret")
    monkeypatch.setenv("NSPCA_SHARDS", str(place))
    return place


def test_nothing_is_listed_that_is_not_a_folder_of_shards_there(place, monkeypatch):
    assert served() == ["news"]
    assert opened("news").shape == (60, 40)
    for name in ("link", "../secret", "..", ".", "", ".hidden", "empty", "file", "news/../../secret", "no"):
        with pytest.raises(InvalidData, match="no folder of shards of this name"):
            opened(name)
    with pytest.raises(InvalidData):
        opened(str(place.parent / "secret"))
    (place / "news" / "meta.json").rename(place / "manifest")
    (place / "news" / "meta.json").symlink_to(place / "manifest")
    with pytest.raises(InvalidData):
        opened("news")
    monkeypatch.setenv("NSPCA_SHARDS", str(place / "nowhere"))
    assert served() == []
    monkeypatch.delenv("NSPCA_SHARDS")
    assert served() == []


def test_a_folder_may_vanish_while_it_is_looked_at(place, monkeypatch):
    gone = place / "gone"
    monkeypatch.setattr(shelf, "_path", lambda name: gone)
    assert shelf.stamp("news") == ""
    monkeypatch.setattr(shelf.os, "listdir", lambda path: gone.stat())
    assert served() == []


def test_a_sample_has_rows_of_the_table(place, monkeypatch):
    X, table = counts(np.random.default_rng(0), 60, 40, words=6), opened("news")
    some, rows = table.sample(20)
    assert len({*rows}) == rows.size == 20 and (np.diff(rows) > 0).all()
    assert (some != X[rows]).nnz == 0
    assert table.sample(1000)[0].shape[0] > 50
    monkeypatch.setattr(steps, "ENTRIES", 30)
    data = steps.sample_of(table, steps.sample_rows(table))
    assert data.X.shape[1] == 40 and 2 <= data.X.shape[0] < 10
    assert data.sample_names[0].startswith("row ") and tuple(data.feature_names) == table.feature_names
    assert "of the 60 rows" in data.provenance


def test_a_folder_is_chosen_by_its_name(place, visit, texts, address):
    page = visit(DATA, source="shards")
    assert not page.exception and not page.error
    assert "60 rows × 40 features" in texts(page) and "secret" not in texts(page)
    page.button(key="folder_take_0").click().run()
    assert not page.exception and not page.error
    assert address(page)["folder"] == "news" and "upload" not in address(page)
    facts = {one.label: one.value for one in page.metric}
    assert (facts["Samples"], facts["Features"]) == ("60", "40") and "On disk" in facts
    assert "all 60 rows of a folder" in texts(page) and "from all rows" in texts(page)
    path = place / "news" / "data.npy"
    path.write_bytes(path.read_bytes()[:-1])
    page = visit(DATA, source="shards")
    assert not page.exception and "cut short" in page.error[0].value


@pytest.mark.parametrize("name", ["../secret", "link", "/etc", "nowhere", "a" * 300, "a\0b"])
def test_an_address_opens_no_other_folder(place, visit, sentence, name):
    assert "no folder of shards of this name" in sentence(visit("pages/sweep.py", folder=name))


@pytest.mark.visit
def test_other_pages_work_on_some_rows_and_say_so(place, visit, texts):
    page = visit("pages/spannogram.py", folder="news")
    assert not page.exception and not page.error
    assert "folder on the server" in texts(page) and "53 samples × 40 features" in texts(page)
    page = visit("pages/sweep.py", folder="news", some=1)
    assert not page.exception and "Worked on are 53 of the 60 rows" in texts(page)
    page = visit("pages/sweep.py", folder="news", out="3")
    assert not page.exception and "as something is done to the features" in texts(page)
    page = visit("pages/sweep.py", folder="news")
    assert not page.exception and "Worked on are all 60 rows" in texts(page)


def test_what_a_worker_finds_in_a_folder_is_what_it_finds_in_memory(place):
    X = counts(np.random.default_rng(0), 60, 40, words=6)
    given = DataSpec(folder="news", digest=opened("news").digest)
    said = []
    spec = SweepSpec(data=given, ks=(3, 5))
    of_all, in_memory = spec.run(said.append), spec.numbers_only().run(said.append, X=X)
    for k in (3, 5):
        assert of_all["auto", k].value == pytest.approx(in_memory["auto", k].value, rel=1e-9)
    assert any((event.stage, event.done, event.total) == ("reading", 8, 9) for event in said)
    assert sum("row" in event.payload for event in said) == 4  # each row once, whatever is read after it
    certificate = of_all["auto", 5].certificate
    checked = CheckSpec(data=given, k=5).run(certificate=certificate.to_bytes())
    assert checked["refusal"] == "" and checked["upper"] == pytest.approx(certificate.upper, rel=1e-6)
    known = json.loads(job.measure_folder(data=given.to_dict(), center=True, scale=False, leading=True))
    problem = nspca.Problem.from_data(X, 1)
    assert known["leading"] == pytest.approx(problem.leading_eigenvalue)
    assert known["total"] == pytest.approx(problem.total_variance)
    found = ComponentsSpec(data=given, sizes=(3, 3), methods=["joint"], effort="fast").run()["joint", 2]
    assert nspca.verify(X, found.certificate, k=(3, 3)) >= found.value


def test_a_pass_over_the_rows_can_be_cancelled(place):
    def stop(event):
        if (event.stage, event.done) == ("reading", 4):
            raise Cancelled

    given = DataSpec(folder="news", digest=opened("news").digest)
    with pytest.raises(Cancelled):
        job.measure_folder(data=given.to_dict(), center=True, scale=False, leading=False, report=stop)


def test_a_folder_that_has_changed_is_another_question(place, tmp_path):
    first = open_data.find(DataSpec(folder="news", digest=opened("news").digest), None)
    (place / "news").rename(tmp_path / "old")
    folder_of(counts(np.random.default_rng(1), 50, 40, words=6), place / "news", 7)
    assert open_folder.digest("news") != first.table.digest
    with pytest.raises(InvalidData, match="has changed since"):
        job.measure_folder(data=first.reference.to_dict(), center=True, scale=False, leading=False)
    with pytest.raises(InvalidData, match="has changed since"):
        open_data.find(first.reference, None)
    again = open_data.find(DataSpec(folder="news", digest=open_folder.digest("news")), None)
    assert again.content != first.content and again.shape == (50, 40)


def test_python_of_a_folder_does_what_the_page_did(place, monkeypatch):
    monkeypatch.chdir(place)
    of = open_data.find(DataSpec(folder="news", digest=opened("news").digest), None)
    request = SweepSpec(data=of.spec, ks=(3, 5))
    names: dict = {}
    exec(request.to_python(k=5, method="auto"), names)
    assert names["problem"].covariance.digest == of.table.digest
    some = open_data.row_sample(of)
    exec("import nspca\n" + SweepSpec(data=some.spec, ks=(3,)).opening(3), names)
    assert names["problem"].covariance.digest == some.content


def empty(has_slider=True):
    return go.Figure()


def test_all_of_a_sweep_of_a_folder_is_taken_home_without_its_rows(place):
    of = open_data.find(DataSpec(folder="news", digest=opened("news").digest), None)
    asked = SweepSpec(data=of.spec, ks=(3,))
    sweep = asked.run(**of.given)
    outline = open_folder.Outline(of.table, True, False, leading=2.0, total=9.0)
    problem, drawn = nspca.Problem(outline, 3), partial(empty)
    home = taken(Answer(of, asked, problem, sweep, 3, "auto", drawn=drawn))
    drawn = home.figures()
    assert any(name.startswith("heat-map") for name in drawn)
    with zipfile.ZipFile(io.BytesIO(home.pack(drawn, {}))) as archive:
        names = [name.partition("/")[2] for name in archive.namelist()]
        readme = archive.read("news-sweep/README.txt").decode()
    assert "data.npz" not in names and "certificates/k3-auto.npz" in names
    assert "python -m nspca verify news certificates/k3-auto.npz" in readme


@pytest.mark.visit
def test_all_rows_are_swept_and_the_proof_is_checked_from_the_files(place, visit, texts, finish, ended):
    page = visit("pages/sweep.py", folder="news", to="6")
    assert not page.exception and not page.error
    page.button(key="run").click().run()
    page = measured(finish(page))
    assert not page.exception and not page.warning
    assert not page.error, page.error[0].value
    assert "Drawn are 53 rows chosen at random" in texts(page) and "keep" in texts(page)
    assert texts(page).count("Not offered for all rows of a folder") == 2, "the page holds a sample of them"
    assert not page.file_uploader and not {"choice", "noise"} & {button.key for button in page.button}
    page.button(key="verify").click().run()
    page = ended(page)
    assert any("Checked in" in success.value for success in page.success)
    assert "verify news" in page.code[-1].value + page.code[0].value
    runs = visit("pages/runs.py", w=page.query_params["w"])
    assert not runs.exception and "news" in texts(runs)


@pytest.mark.visit
def test_components_of_all_rows(place, visit, texts, ended):
    page = visit("pages/components.py", folder="news", r=2, size=4)
    assert not page.exception and not page.error, page.error
    page.button(key="run").click().run()
    page = measured(ended(page))
    assert not page.exception
    assert not page.error, page.error[0].value
    assert "2 lists of 4 features" in texts(page)
    assert "Drawn are 53 of 60 samples" in texts(page)
    page.segmented_control(key="widget_look").set_value("many").run()
    assert "Not offered for all rows of a folder" in texts(page) and not page.exception
    page.button(key="verify").click().run()
    assert "Checked in" in ended(page).success[0].value


def measured(page):
    """Return the page after a worker has measured the folder."""
    for _ in range(600):
        if not any("is being measured" in one.value for one in page.caption):
            return page
        time.sleep(0.1)
        page.run()
    raise AssertionError("the folder was not measured")


def test_without_the_setting_nothing_is_offered(visit, monkeypatch):
    monkeypatch.delenv("NSPCA_SHARDS", raising=False)
    page = visit(DATA, source="shards")
    assert not page.exception
    assert "shards" not in page.segmented_control[0].options and len(page.segmented_control[0].options) == 2
