"""The server for assistants, spoken to by the client of the official SDK, as a process and in this one."""

import asyncio
import sys

import numpy as np
import pytest

import nspca
from nspca.cli.mcp import server
from tests.test_project import ROOT

mcp = pytest.importorskip("mcp", reason="the package mcp is not installed")


def told(folder, *calls, by=None):
    """Return what the tools answer: their structured answers, or the text of an error."""

    async def talk():
        async with mcp.Client(by or server(folder)) as client:
            answers = []
            for name, given in calls:
                answer = await client.call_tool(name, given)
                answers.append(answer.content[0].text if answer.is_error else answer.structured_content)
            return (await client.list_tools()).tools, answers

    return asyncio.run(talk())


@pytest.fixture
def folder(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 6)) + 3 * np.linspace(-1, 1, 40)[:, None] * (
        np.arange(6) < 3
    )
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="")
    return tmp_path


def test_a_process_reads_solves_and_verifies(folder):
    command = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "nspca", "mcp", str(folder)], env={"PYTHONPATH": str(ROOT)}
    )
    tools, (read, solved, verified) = told(
        folder,
        ("read", {"source": "t.csv"}),
        ("solve", {"source": "t.csv", "k": 3, "certificate": "proof.npz"}),
        ("verify", {"source": "t.csv", "certificate": "proof.npz"}),
        by=command,
    )
    assert {tool.name for tool in tools} == {"samples", "read", "solve", "verify"}
    assert (read["samples"], read["features"], read["feature_names"]) == (40, 6, list("abcdef"))
    assert {one["name"] for one in solved["components"][0]} == set("abc")
    assert solved["ratio"] > 0.99 and solved["checked"] is True and solved["certificate"] == "proof.npz"
    assert verified["statement"] == solved["proved"] and "at most 3 nonzero weights" in solved["proved"]
    data = nspca.read(folder / "t.csv")
    problem = nspca.Problem.from_data(data.X, 3)
    assert nspca.verify(data.X, nspca.Certificate.load(folder / "proof.npz"), problem) >= solved["value"]


def test_reading_names_the_source_and_more_features_than_a_screen_has_room_for(folder):
    _, (read,) = told(folder, ("read", {"source": "digits"}))
    digits = nspca.load_sample("digits")
    assert read["feature_names"] == list(digits.feature_names[:50]) and read["features"] == 64
    assert read["provenance"] == digits.provenance != ""


def test_what_is_not_proved_is_refused(folder):
    (folder / "other.csv").write_text((folder / "t.csv").read_text().replace("1.", "2."))
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 not really")
    _, (_, wrong, broken) = told(
        folder,
        ("solve", {"source": "t.csv", "k": 2, "components": 2, "certificate": "two.npz"}),
        ("verify", {"source": "other.csv", "certificate": "two.npz"}),
        ("verify", {"source": "t.csv", "certificate": "broken.npz"}),
    )
    assert "refused" in wrong and "refused" in broken


def test_it_stays_in_its_folder_and_overwrites_nothing(folder):
    outside = folder.parent / "outside.csv"
    outside.write_text("a,b\n1,2\n3,4\n")
    (folder / "link.csv").symlink_to(outside)
    answers = told(
        folder,
        *(("read", {"source": name}) for name in ("../outside.csv", str(outside), "link.csv", "missing.csv")),
        *(
            ("solve", {"source": "digits", "k": 2, "certificate": name})
            for name in ("../p.npz", "t.csv", "p.txt")
        ),
    )[1]
    assert all("refused" in answer for answer in answers)
    assert sum("below the folder" in answer for answer in answers) == 4
    _, (samples,) = told(folder, ("samples", {}))
    assert "Pitprops" in str(samples)
