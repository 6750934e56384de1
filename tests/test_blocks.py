"""Blocks in README.md and docs/: the Python runs and prints the text below it, and commands parse."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from nspca.cli.entry import parser

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")]
SLOW = ("genes",)  # its table has thousands of features
# A block of Python, and where the next thing on the page is a block of text, what it prints.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str | None]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.visit] * (page.stem in SLOW)) for page in PAGES if blocks(page)],
    ids=lambda page: page.stem,
)
def test_python_blocks_run_and_print_what_stands_below_them(page, tmp_path, monkeypatch):
    """One after another in one namespace, as somebody who reads the page would type them."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for number, (code, shown) in enumerate(blocks(page), start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{page.name}, block {number}", "exec"), names)
        if shown:
            assert printed.getvalue() == shown, f"{page.name}, block {number}"


def commands(what: str) -> list[str]:
    """Return the words after ``python -m`` and a module in README, docs and deploy, each once."""
    texts = [page.read_text(encoding="utf-8") for page in [*PAGES, *ROOT.glob("deploy/*")]]
    pattern = re.compile(rf"python\S* -m {what}([^`|&;#\n]+)")
    return sorted({line.strip() for text in texts for line in pattern.findall(text)})


def parses(line: str) -> bool:
    try:
        parser().parse_args(shlex.split(line))
    except SystemExit:
        return False
    return True


def test_commands_of_the_pages_are_understood():
    known = next(action.choices for action in parser()._actions if isinstance(action.choices, dict))
    named = [line for line in commands("nspca ") if re.fullmatch(r"\w+|\{[\w,]+\}", line)]  # only spoken of
    typed = [line for line in commands("nspca ") if line not in named]
    assert len(typed) > 8 and not parses("solve digits --no-such-option")
    assert [line for line in typed if not parses(line)] == []
    assert {name for line in named for name in line.strip("{}").split(",")} <= set(known)


def test_scripts_and_benchmarks_of_the_pages_are_there():
    for room in ("scripts", "benchmarks"):
        names = {line.split()[0] for line in commands(rf"{room}\.")}
        assert names
        places = {name: ROOT / room / name.split(".")[0] for name in names}
        there = {name for name, at in places.items() if at.with_suffix(".py").is_file() or at.is_dir()}
        assert names == there
