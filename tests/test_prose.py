"""Tests of text: sentence length, the table of contents of the site, the glossary, docstrings of scripts."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GENERATED = {"methods.md"}  # from docstrings
LONGEST = 25
"""Words that a sentence may have. A longer one is usually two."""
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "sample_data/README.md")),
    *(page for page in sorted(DOCS.rglob("*.md")) if page.name not in GENERATED),
]


def read_text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def find_sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown page.

    Code blocks, tables, headings, pictures and generated parts are left out. A list item or a
    paragraph ends a sentence. Inline code and an inline formula count as one word each.
    """
    text = re.sub(
        r"^```.*?^```$|^<!-- peers.*^<!-- end .*?-->|!\[[^\]]*\]\([^)]*\)",
        "",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    text = re.sub(r"^(\||#| {4,}(?![-\d] )).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\$\$$.*?^\$\$$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"``.+?``|`[^`]+`|\$[^$]+\$", "Code", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"^ *([-*]|\d+\.) ", "\n\n", text, flags=re.MULTILINE)
    paragraphs = re.split(r"\n\s*\n", text)
    return [
        " ".join(sentence.split())
        for paragraph in paragraphs
        for sentence in re.split(r"(?<=[.?!])[*\")]*\s+(?=[A-Z\"*(]|nspca)", paragraph)
        if sentence.strip()
    ]


def count_words(sentence: str) -> int:
    return len(re.findall(r"\S*[^\W_]\S*", sentence))


def test_sentences_are_found():
    text = (
        "# Title of it\n\nOne `a b c` two. Three\n[four five](six.md)?\n\n| a | b |\n\n"
        "- Item one\n- item two\n\n    code here\n\n```python\nx = 1\n```\n"
        "\n$$\nA formula of its own.\n$$\n\nLet $x \\le y$ be.\n"
    )
    found = ["One Code two.", "Three four five?", "Item one", "item two", "Let Code be."]
    assert find_sentences(text) == found
    assert [count_words(sentence) for sentence in found] == [3, 3, 2, 2, 3]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_are_short(page):
    sentences = find_sentences(read_text(page))
    assert [(count_words(one), one) for one in sentences if count_words(one) > LONGEST] == []


def test_every_page_is_in_a_toctree():
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", read_text(DOCS / "index.md"), re.MULTILINE | re.DOTALL)
    listed = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in (*DOCS.rglob("*.md"), *DOCS.glob("examples/*.py"))
    }
    assert sorted(listed) == sorted(pages - {"index"})


def test_the_glossary_is_sorted_and_defines_each_word_once():
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", read_text(DOCS / "glossary.md"), re.MULTILINE)
    words = [word.casefold() for word, meaning in rows if set(meaning) != {"-"}][1:]
    assert len(words) > 40
    assert words == sorted(set(words))


def test_the_glossary_is_linked_from_the_start_and_the_architecture():
    for name in ("index.md", "architecture.md"):
        assert "(glossary.md)" in read_text(DOCS / name), name


@pytest.mark.parametrize("folder", ["benchmarks", "docs", "scripts"])
def test_module_docstrings_can_be_read_alone(folder):
    dangling = re.compile(r"(What|Of|Those|Who|It|They|The same)\b")
    found = []
    for path in (ROOT / folder).rglob("*.py"):
        docstring = ast.get_docstring(ast.parse(read_text(path)))
        if path.parent.name != "examples" and (not docstring or dangling.match(docstring)):
            found.append(path.relative_to(ROOT).as_posix())
    assert found == []
