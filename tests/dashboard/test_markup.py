"""HTML of the pages and the reports: whatever a name holds, it is text and never markup."""

import ast
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import jinja2
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from nspca.dashboard import export
from nspca.dashboard.app import tables
from nspca.dashboard.components import spannogram_explorer
from nspca.dashboard.export import Export
from nspca.dashboard.joint import annotations, lists, topics
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.sweep import archive as sweep_archive
from nspca.dashboard.views import statement
from nspca.data import Dataset
from nspca.papers import report as papers_report
from nspca.papers.item import Claim, Found, Outcome, Printed, Table, Words
from nspca.presentation.markup import Markup, render
from nspca.specs import DataSpec, SweepSpec

ROOT = Path(__file__).resolve().parents[2]
HARMLESS = "a name"
HOSTILE = (
    "</title></style></script><script>alert(1)</script>\"'><img src=x onerror=alert(1)> {{ 1 }} &lt;b&gt;"
)
MADE = datetime(2026, 1, 1, tzinfo=UTC)
VOID = frozenset({"meta", "img", "br", "input"})


def data_of(name: str) -> Dataset:
    rng = np.random.default_rng(0)
    names = tuple(f"{name} {j}" for j in range(6))
    return Dataset(name, rng.standard_normal((20, 6)), names, tuple(f"{name} {i}" for i in range(20)))


def drawn(name: str) -> go.Figure:
    return go.Figure(layout={"meta": {"alt": name}})


def claims(name: str) -> list[Claim]:
    printed = Printed("key", name, name, "same", 1.0, name)
    found = tuple(Found(2.0, judged=judged, preset=name, budget=name) for judged in (True, False))
    return [Claim(printed, found, name)]


def found_by(name: str) -> Outcome:
    return Outcome(
        said=name,
        words=[Words(name, [[name, name]])],
        tables=[Table(name, [name], [[name]])],
    )


def report_of(name: str) -> str:
    about = Chosen(data_of(name), DataSpec(path="a.csv"), "")
    asked = SweepSpec(data=DataSpec(path="a.csv"), ks=(1,))
    proved = lambda: render("proved", lines=(name,), head=(name,), rows=[(name,)], kind="")  # noqa: E731
    return Export(about, asked, name, {}, {}, proved, missing=name).report(Markup(""), name, MADE).decode()


def sweep_of(name: str) -> str:
    frame = pd.DataFrame({"k": [1], "method": [name], "value": 1.0, "upper": 2.0, "ratio": 0.5, "kind": "B0"})
    frame = frame.assign(upper_rank3=2.0, upper_epsnet=2.0, epsnet_probability=0.5, seconds=1.0)
    problem = SimpleNamespace(leading_eigenvalue=1.0)
    asked = SweepSpec(data=DataSpec(path="a.csv"), ks=(1,))
    return sweep_archive.proved(problem, asked, frame)


def words_of(name: str) -> Dataset:
    texts = (f"{name} river", name)
    return Dataset("t", np.eye(3)[:2], (name, "river", "b"), (name, "2"), kind="words", texts=texts)


PLACES = {
    "lists": lambda name: (
        lists.lists(np.eye(3)[:, :2], [0.5, 0.2], [name] * 3, np.zeros(3, bool), named={1: name}, few=0)
        + lists.lists(np.eye(3)[:, :2], [0.5, 0.2], [name] * 3, np.zeros(3, bool), named={1: name})
    ),
    "documents": lambda name: topics.documents(words_of(name), np.array([0.0, 1, 0]), np.ones(2), 1),
    "usage of words": lambda name: topics.usage(words_of(name), np.ones(3), np.array([True, False]), 1),
    "annotations": lambda name: annotations.table({name: annotations.Link(2, np.ones(2))}, name),
    "marked words": lambda name: topics.marked(name, [name]),
    "cards of a table": lambda name: tables.cards(pd.DataFrame({name: [name] * 50})),
    "bar": lambda name: statement.bar(statement.Statement("", "x", 0.5, 0.7, name, name, name)),
    "component as a file": lambda name: spannogram_explorer.page(name, name, {"names": [name]}).decode(),
    "pictures": lambda name: export._still(
        {"a": SimpleNamespace(svg=b"1", png=b"22")}, {"a": drawn(name)}, {"a": name}
    ),
    "report": report_of,
    "figure": lambda name: render("figure", alt=name, figure=Markup("")),
    "sweep": sweep_of,
    "claims": lambda name: papers_report.table(claims(name)) + papers_report.beside_table(claims(name)),
    "table of a paper": lambda name: papers_report.text_table(Table(name, [name], [[name]])),
}


class Read(HTMLParser):
    """Tags with the names of their attributes, and all text, of an HTML text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *(name for name, _ in attrs)))
        self.words += [value or "" for _, value in attrs]
        self.open += [] if tag in VOID else [tag]

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, *(name for name, _ in attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "tags are closed in order"

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("place", PLACES)
def test_a_hostile_name_is_text(place):
    harmless, hostile = (Read(PLACES[place](name)) for name in (HARMLESS, HOSTILE))
    assert hostile.tags == harmless.tags and hostile.open == harmless.open == []
    assert len(hostile.words) == len(harmless.words)
    said = [word for word, other in zip(hostile.words, harmless.words, strict=True) if word != other]
    assert said, "the name is there"
    # The scripts of a file hold JSON, where the name is escaped in another way.
    assert any(HOSTILE in word for word in said) or place == "marked words"


def test_a_report_of_a_paper_escapes_what_it_says(monkeypatch):
    name = "asteris2014-figure-4"
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")
    texts = [Read(papers_report.html({name: found_by(one)}).decode()) for one in (HARMLESS, HOSTILE)]
    assert texts[0].tags == texts[1].tags and texts[1].open == []
    assert sum(HOSTILE in word for word in texts[1].words) == 6


def test_a_value_that_a_template_misses_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="alt"):
        render("figure", figure="")


def joined(path: Path) -> list[str]:
    """Return the formatted strings of a module that put values between tags."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
            if re.search(r"</?[a-z][a-z0-9]*[ >]", text):
                found.append(text)
    return found


def test_no_html_is_joined_by_hand():
    """Style elements and empty drawings hold constants of their module and nothing of the data."""
    files = [*ROOT.glob("nspca/dashboard/**/*.py"), ROOT / "nspca/papers/report.py"]
    assert len(files) > 80
    found = [(path.name, text) for path in files for text in joined(path)]
    assert not [one for one in found if not one[1].startswith(("<style>", "<svg"))]
