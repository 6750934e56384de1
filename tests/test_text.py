"""Docstrings can be read alone: the first sentence names its subject and is short."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "nspca"
OPENINGS = re.compile(
    r"(What|Of|Those|Who|Whoever|Whatever|It|They|The same|Where|How|Whether|To)\b(?!-)", re.IGNORECASE
)
"""First words whose subject stands outside the docstring, or that describe nothing."""
MOST_WORDS = 30
"""Maximum words of a first sentence. Code in backticks counts as one word."""


def docstrings(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of a module and of everything defined in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "module"), text


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring in one line, with code in backticks as one word."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    paragraph = re.sub(r"``.+?``|`[^`]+`", "code", paragraph)
    return re.split(r"(?<=[.:?!;])\s", paragraph)[0]


def faults(source: str) -> list[str]:
    """Return a line for every docstring that begins with a forbidden word or with a long sentence."""
    found = []
    for name, text in docstrings(source):
        sentence = first_sentence(text)
        if OPENINGS.match(text.strip()):
            found.append(f"{name} begins with {text.split()[0]!r}: name the subject, or what is returned")
        if len(sentence.split()) > MOST_WORDS:
            found.append(f"{name} has a first sentence of {len(sentence.split())} words: {sentence}")
    return found


def rooms() -> list[str]:
    """Return the folders and root modules of the package by name."""
    return sorted(
        path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    )


@pytest.mark.parametrize("room", rooms())
def test_docstrings_begin_with_their_subject_and_a_short_sentence(room: str) -> None:
    path = PACKAGE / room
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    found = [f"{file.name}: {fault}" for file in files for fault in faults(file.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "scripts"])
def test_docstrings_outside_the_package_begin_so_too(folder: str) -> None:
    files = sorted((PACKAGE.parent / folder).rglob("*.py"))
    found = [f"{file.name}: {fault}" for file in files for fault in faults(file.read_text(encoding="utf-8"))]
    assert files and not found, "\n".join(found)


@pytest.mark.parametrize(
    "text", ["What a run returns.", "Whether it is done.", "The same, sorted.", "To be read.", "word " * 31]
)
def test_a_bad_docstring_is_found(text: str) -> None:
    assert len(faults(f'"""{text}"""')) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Return the whole.",
        "To-do list of a run.",
        "Wholesale prices.",
        "Return ``" + "x + " * 40 + "x``. " + "word " * 40,
    ],
)
def test_a_good_docstring_passes(text: str) -> None:
    assert faults(f'def name():\n    """{text}"""') == []
