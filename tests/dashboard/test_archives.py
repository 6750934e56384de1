"""Everything of a sweep as one ZIP: what is in it holds, agrees and runs by itself."""

import base64
import csv
import io
import re
import runpy
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.__main__ import main
from nspca.cli.loadings import read_loadings
from nspca.dashboard import export
from nspca.dashboard.components import pictures
from nspca.dashboard.components.pictures import Picture
from nspca.dashboard.joint import parts as joint_parts
from nspca.dashboard.joint import take_home as joint_everything
from nspca.dashboard.open_data import Chosen, problem_of
from nspca.dashboard.runs import answer as answers
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep import archive as sweep_archive
from nspca.plots.sweeps import sweep_figure
from nspca.presentation.numerals import format_bound
from nspca.specs import ComponentsSpec, DataSpec, Spec, SweepSpec

MADE = datetime(2026, 5, 4, 3, 2, tzinfo=UTC)
HOSTILE = '<script>alert(1)</script>\n=1+1 "ü'


def finished(data, asked: SweepSpec, problem) -> Answer:
    sweep = asked.run(X=data.X)
    k = sorted(k for _, k in sweep)[1]
    table = answers.table(sweep)
    drawn = partial(sweep_figure, table, unit=problem.leading_eigenvalue)
    return Answer(Chosen(data, asked.data, ""), asked, problem, sweep, k, "auto", drawn=drawn)


def uploaded() -> Answer:
    """An upload with names that mean harm, standardised, of which a cancelled run had two of three k."""
    X = np.random.default_rng(3).standard_normal((40, 6)) * np.linspace(3, 1, 6) + 5
    names = ("=cmd|' /C calc'!A0", "@b", "<img src=x>", "d,e", "ü", "f")
    data = nspca.data.Dataset(
        name=HOSTILE,
        X=X,
        feature_names=names,
        sample_names=tuple(f"s{i}" for i in range(40)),
        provenance=HOSTILE,
        findings=("Left out because of missing values: 1 of 7 features (<b>2</b> missing values).",),
    )
    where = DataSpec(upload="0" * 64, file="../../x';import os.csv", label_column="a")
    asked = SweepSpec(data=where, ks=(1, 2), methods=("threshold", "auto"), scale=True)
    done = finished(data, asked, nspca.Problem.from_data(X, k=1, scale=True))
    return replace(done, asked=asked.but(ks=(1, 2, 3)))


def sampled() -> Answer:
    data = nspca.load_sample("pitprops")
    return finished(
        data,
        SweepSpec(data=DataSpec(sample="pitprops"), ks=(2, 4)),
        nspca.Problem.from_covariance(data.X, k=2),
    )


def own_covariance() -> Answer:
    data = nspca.load_sample("pitprops")
    where = DataSpec(upload="0" * 64, file="mine.csv", covariance=True)
    asked = SweepSpec(data=where, ks=(2, 4))
    return finished(data, asked, nspca.Problem.from_covariance(data.X, k=2))


def forced() -> Answer:
    """Return a finished sweep with two forced features."""
    data = nspca.load_sample("pitprops")
    asked = SweepSpec(data=DataSpec(sample="pitprops"), ks=(2, 4), forced=(11, 12))
    return finished(data, asked, problem_of(Chosen(data, asked.data, "forced"), asked))


def packed(done: Answer, made: datetime = MADE) -> bytes:
    home = sweep_archive.taken(done)
    drawn = home.figures()
    pictures = {name: Picture(b"<svg/>", b"\x89PNG\r\n\x1a\n") for name in drawn}
    return home.pack(drawn, pictures, made)


@pytest.fixture(
    scope="module", params=[uploaded, sampled, own_covariance, forced], ids=lambda made: made.__name__
)
def unpacked(request, tmp_path_factory) -> tuple[Answer, Path]:
    done, folder = request.param(), tmp_path_factory.mktemp("everything")
    with zipfile.ZipFile(io.BytesIO(packed(done))) as archive_:
        assert all(
            name.isascii() and ".." not in name and name.startswith(f"{sweep_archive.taken(done).folder}/")
            for name in archive_.namelist()
        )
        archive_.extractall(folder)
    return done, folder / sweep_archive.taken(done).folder


def test_every_certificate_is_accepted_and_the_tables_agree(unpacked):
    done, folder = unpacked
    rows = pd.read_csv(folder / "tables/sweep.csv")
    weights = pd.read_csv(folder / "tables/components.csv")
    assert set(rows["certificate"]) == {f"certificates/{path.name}" for path in folder.glob("certificates/*")}
    assert len(rows) == len(done.sweep) and rows["k"].nunique() == len(set(rows["certificate"])), (
        "methods share the proof of a k"
    )
    for row in rows.itertuples():
        upper = nspca.verify(done.of.dataset.X, nspca.Certificate.load(folder / row.certificate), k=row.k)
        assert row.value <= upper * (1 + 1e-12) and upper == pytest.approx(row.upper, rel=1e-9)
        mine = weights[(weights["k"] == row.k) & (weights["method"] == row.method)]
        x = np.zeros(done.problem.n)
        names = [name.lstrip("'") for name in mine["feature"]]
        x[[[n.lstrip("'") for n in done.of.dataset.feature_names].index(name) for name in names]] = mine[
            "weight"
        ]
        assert done.problem.value(x) == pytest.approx(row.value, rel=1e-12)


def test_a_row_names_the_certificate_of_its_bound_which_may_be_about_more_features():
    done = sampled()
    one = done.sweep["auto", 2]
    tight, loose = done.sweep["auto", 4].certificate, replace(one.certificate, upper=10.0)
    sweep = nspca.Sweep({**done.sweep.results, ("auto", 2): one.with_certificate(loose)})
    done = replace(done, sweep=sweep, k=2)
    rows = pd.read_csv(io.BytesIO(sweep_archive._files(done)["tables/sweep.csv"].make()))
    assert set(rows["certificate"]) == {"certificates/k4-auto.npz"} and set(rows["upper"]) == {tight.upper}
    assert done.limit == tight.upper and done.certificate is loose
    assert done.ratio == rows["ratio"][0] < 1, "the line about the answer and the curve say the same"


def test_the_python_in_it_finds_the_same_and_so_does_the_command_of_the_readme(unpacked, monkeypatch, capsys):
    done, folder = unpacked
    monkeypatch.chdir(folder)
    runpy.run_path("reproduce.py")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    for (method, k), result in done.sweep.results.items():
        value = next(float(line[2]) for line in lines if line[:2] == [method, str(k)])
        assert value == pytest.approx(result.value, rel=1e-5)
    for path in folder.glob("certificates/*"):
        assert any(line[:1] == [path.name] for line in lines)
    readme = (folder / "README.txt").read_text("utf-8")
    command = next(
        line.split() for line in readme.splitlines() if line.startswith("    python -m nspca verify")
    )
    assert main(command[3:]) == 0 and "proved: " in capsys.readouterr().out


def test_the_question_is_there_and_about_the_numbers_of_the_folder(unpacked):
    done, folder = unpacked
    spec = Spec.from_json((folder / "question.json").read_bytes())
    assert (spec.ks, spec.methods, spec.scale) == (done.asked.ks, done.asked.methods, done.asked.scale)
    data = spec.open(folder)
    assert np.array_equal(data.X, done.of.dataset.X)
    assert data.is_covariance == done.of.dataset.is_covariance


def test_the_readme_names_every_file(unpacked):
    done, folder = unpacked
    readme = (folder / "README.txt").read_text("utf-8")
    alone = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "certificates"
    ]
    assert all(name in readme for name in alone if name != "README.txt") and "certificates/" in readme
    assert all(note in readme for note in done.of.dataset.notes), "what reading changed is said"
    assert ("The run was cancelled: 4 of 6" in readme) == (len(done.asked.ks) == 3)
    assert (folder / "data.npz").exists() == (done.asked.data.upload is not None)
    entries = (folder / "references.bib").read_text("utf-8")
    assert (
        entries.count("@inproceedings{") == 4
        and entries.count("{") == entries.count("}")
        and nspca.__version__ in entries
    )


def test_lists_and_scores_for_other_programs_are_read_back(unpacked):
    done, folder = unpacked
    x, names = done.shown.components[:, 0], done.of.dataset.feature_names
    used = {names[j]: x[j] for j in np.flatnonzero(x)}
    assert set((folder / "lists/features.txt").read_text().splitlines()) == set(used)
    ranked = [line.split("\t") for line in (folder / "lists/ranked.rnk").read_text().splitlines()]
    assert {name: float(weight) for name, weight in ranked} == used
    sets = [line.split("\t") for line in (folder / "lists/components.gmt").read_text().splitlines()]
    assert len(sets) == len({name for name, *_ in sets}) == len(done.sweep)
    shown = next(members for name, _, *members in sets if name == f"k{done.k}_{done.method}")
    assert set(shown) == set(used)
    assert (folder / "tables/scores.csv").exists() != done.of.dataset.is_covariance
    if not done.of.dataset.is_covariance:
        read = pd.read_csv(folder / "tables/scores.csv")
        assert list(read["sample"]) == list(done.of.dataset.sample_names)
        assert np.allclose(read["score"], done.problem.scores(x))


def test_what_must_be_in_is_said(unpacked):
    done, folder = unpacked
    page, is_kept = (folder / "report.html").read_text("utf-8"), bool(done.asked.forced)
    assert ("No such component can explain more" in page) == is_kept
    for text in (done.asked.describe().line, page):
        assert ("keeping 2 features" in text) == is_kept
    assert ("forced=(11, 12)" in page) == is_kept


def test_names_that_mean_harm_are_text():
    done = uploaded()
    with zipfile.ZipFile(io.BytesIO(packed(done))) as zipped:
        read = {name.partition("/")[2]: zipped.read(name) for name in zipped.namelist()}
    assert b"<script>alert" not in read["report.html"] and b"<img src=x>" not in read["report.html"]
    assert b"(&lt;b&gt;2&lt;/b&gt; missing values)" in read["report.html"]
    table = read["tables/components.csv"].decode("utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
    assert any(cell.startswith("'=cmd") for cell in cells) and not any(
        cell.startswith(("=", "@", "+")) for cell in cells
    )
    compile(read["reproduce.py"], "reproduce.py", "exec")
    assert len(read["report.html"]) < 1e6


def test_what_somebody_else_shared_comes_without_its_data():
    done = replace(uploaded(), own=False)
    with zipfile.ZipFile(io.BytesIO(packed(done))) as zipped:
        names = [name.partition("/")[2] for name in zipped.namelist()]
        assert "data.npz" not in names
        assert "needs the data" in zipped.read(f"{sweep_archive.taken(done).folder}/README.txt").decode()


def test_without_pictures_everything_else_is_there():
    done = sampled()
    with zipfile.ZipFile(io.BytesIO(sweep_archive.taken(done).pack({}, {}, MADE))) as zipped:
        assert not any("figures/" in name for name in zipped.namelist()) and len(zipped.namelist()) == 12


GOOD = {
    "svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "png": base64.b64encode(b"\x89PNG\r\n\x1a\n rest").decode(),
}


@pytest.mark.parametrize(
    "said",
    [
        None,
        {},
        {"a": GOOD, "b": GOOD},
        {"a": None},
        {"a": GOOD | {"svg": "<!DOCTYPE svg><svg/>"}},
        {"a": GOOD | {"svg": "<svg><script>1</script></svg>"}},
        {"a": GOOD | {"png": "not base64"}},
        {"a": GOOD | {"png": base64.b64encode(b"GIF89a").decode()}},
        {"a": GOOD | {"svg": 3}},
    ],
)
def test_only_pictures_are_taken_from_a_browser(said):
    assert pictures.drawn(said, ["a"]) is None
    assert pictures.drawn({"a": GOOD}, ["a"])["a"].png.startswith(b"\x89PNG")


# --- parts ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> tuple[Answer, Path]:
    """Two parts of an upload with names that mean harm."""
    done, folder = uploaded(), tmp_path_factory.mktemp("parts")
    data = replace(done.of.dataset, kind="image", image_shape=(2, 3))
    asked = ComponentsSpec(data=done.asked.data, sizes=(2, 2), methods=("joint", "tpower"))
    sweep = asked.run(X=data.X)
    problem = nspca.Problem.from_data(data.X, k=(2, 2))
    best = max(sweep, key=lambda key: sweep[key].value)[0]
    answer = Answer(Chosen(data, asked.data, ""), asked, problem, sweep, (2, 2), best)
    taken = joint_everything.taken(answer, joint_parts.drawn)
    drawn = taken.figures()
    files = {name: Picture(b"<svg/>", b"\x89PNG\r\n\x1a\n") for name in drawn}
    content = taken.pack(drawn, files, MADE)
    assert content == taken.pack(drawn, files, MADE)
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        zipped.extractall(folder)
    return answer, folder / taken.folder


def test_everything_of_parts_holds_and_runs(parts, monkeypatch, capsys):
    answer, folder = parts
    data, result = answer.of.dataset, answer.shown
    upper = nspca.verify(data.X, nspca.Certificate.load(folder / "certificates/parts.npz"))
    assert result.value <= upper * (1 + 1e-12) and upper == pytest.approx(result.certificate.upper, rel=1e-9)
    monkeypatch.chdir(folder)
    found = runpy.run_path("reproduce.py")
    assert found["result"].value == pytest.approx(result.value, rel=1e-12)
    assert "which row" not in (folder / "README.txt").read_text("utf-8"), "one proof is about all of them"
    assert any(line.startswith("parts.npz ") for line in capsys.readouterr().out.splitlines())
    methods = pd.read_csv(folder / "tables/methods.csv").set_index("method")
    assert all(
        methods["explained"][method] == pytest.approx(one.value, rel=1e-12)
        for method, one in answer.results.items()
    )
    assert {path.stem for path in folder.glob("figures/*.svg")} == set(
        joint_everything.figures(answer, joint_parts.drawn(answer))
    )
    page = (folder / "report.html").read_text("utf-8")
    assert (folder / "figures/samples-along-components.svg").exists()
    captions = re.findall("<figcaption>(.*?)</figcaption>", page)
    assert len(captions) == len(list(folder.glob("figures/*.svg")))
    assert {"Variance by method", "Parts by joint", "Samples along components"} <= set(captions)
    assert (
        "<script" not in page
        and "nothing above" not in page
        and f"explain more than {format_bound(result.certificate.upper)}" in page
    )


def test_components_and_scores_of_a_zip_are_read_back_by_the_package(tmp_path):
    data = nspca.load_sample("digits")
    asked = ComponentsSpec(data=DataSpec(sample="digits"), sizes=(3, 3), methods=("joint",))
    problem = nspca.Problem.from_data(data.X, k=(3, 3))
    result = nspca.solve(problem, "joint")
    sweep = nspca.Sweep({("joint", 2): result})
    answer = Answer(Chosen(data, asked.data, ""), asked, problem, sweep, (3, 3), "joint")
    home = joint_everything.taken(answer, joint_parts.drawn)
    with zipfile.ZipFile(io.BytesIO(home.pack({}, {}, MADE))) as zipped:
        zipped.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    X = read_loadings(str(folder / "tables/components.csv"), data.feature_names)
    strongest = result.components[:, np.argsort(-result.values)]
    assert np.allclose(X, strongest, atol=1e-6)
    scores = nspca.read(folder / "tables/scores.csv", id_column="sample", label_column="label")
    assert scores.sample_names == data.sample_names and scores.X.shape == (len(data.sample_names), 2)
    assert np.allclose(scores.X, problem.scores(strongest), rtol=1e-6)


def test_names_of_files_are_plain():
    texts = {"../../etc/x": "etc-x", "ü ß": "nspca", "a b": "a-b", "CON:1": "CON-1"}
    assert {text: export.ascii_name(text) for text in texts} == texts
