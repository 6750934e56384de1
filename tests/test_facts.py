"""Facts about a method stand in METHODS alone: forms, pages and workers may choose methods, but not sort them
by name.
"""

import ast
from pathlib import Path

import pytest

from nspca.solvers import METHODS

ROOT = Path(__file__).resolve().parents[1]
LISTS = (ast.Tuple, ast.List, ast.Set, ast.Dict)

CHOICES = {
    "nspca/dashboard/compare/form.py": {"QUICK"},
    "nspca/dashboard/joint/form.py": {"QUICK"},
    "nspca/specs/comparison.py": {"DEFAULT"},
    "nspca/specs/components.py": {"DEFAULT"},
    "nspca/specs/uses.py": {"DETECTORS", "PROPS"},
}
"""What is selected before anybody chose, and what the figures of a paper compare. A choice may be gone
through, never asked.
"""
CURVES = {"nspca/specs/uses.py": {"_face_components"}}
"""Functions whose names are those of curves in a figure: its `nmf` and `pca` are not cut to k, so they are no
methods of the table.
"""


def facts(source: str, choices: set[str], curves: set[str] = frozenset()) -> list[str]:
    """Places where a text holds, or asks, a fact about methods by their names.

    Lists of two or more methods must be choices, assigned to a name at the top of the file. Nothing may be
    looked for in a choice, or in anything written there that names a method; and no method may be told by
    comparing its name.
    """
    tree = ast.parse(source)
    chosen = {
        id(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and names_of(node.targets) <= choices
    }
    inside = {id(node) for top in ast.walk(tree) if id(top) in chosen for node in ast.walk(top)}
    told = {
        id(n)
        for top in tree.body
        if isinstance(top, ast.FunctionDef) and top.name in curves
        for n in ast.walk(top)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, LISTS) and len(methods_in(node)) > 1 and id(node) not in inside:
            found.append(f"line {node.lineno}: a list of {', '.join(sorted(methods_in(node)))}")
        elif isinstance(node, ast.Compare) and id(node) not in told:
            asked = [
                right
                for op, right in zip(node.ops, node.comparators, strict=True)
                if isinstance(op, ast.In | ast.NotIn)
            ]
            equal = [
                side
                for side in (node.left, *node.comparators)
                if not asked and isinstance(side, ast.Constant)
            ]
            if any(methods_in(side) or names_of([side]) & choices for side in asked) or any(
                map(methods_in, equal)
            ):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.match_case) and methods_in(node.pattern):
            found.append(f"line {node.pattern.lineno}: case {ast.unparse(node.pattern)}")
    return found


def methods_in(node: ast.AST) -> set[str]:
    return {
        inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and inner.value in METHODS
    }


def names_of(nodes) -> set[str]:
    """Last parts of the names: of ``FIRST``, and of ``module.FIRST``."""
    return {getattr(node, "id", getattr(node, "attr", "")) for node in nodes}


def files() -> list[Path]:
    return [
        *ROOT.glob("nspca/dashboard/**/*.py"),
        *ROOT.glob("nspca/specs/*.py"),
        *ROOT.glob("pages/*.py"),
        ROOT / "app.py",
    ]


def test_no_form_page_or_worker_keeps_a_list_of_its_own():
    every = set().union(*CHOICES.values())
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        # A choice is allowed in its own file only, and no file may look something up in it.
        strangers = [
            fault for fault in facts(source, every, CURVES.get(name, frozenset())) if "a list of" not in fault
        ]
        own = [fault for fault in facts(source, CHOICES.get(name, set())) if "a list of" in fault]
        assert not own + strangers, (name, own + strangers)


def test_every_exception_is_still_there():
    for name, allowed in (*CHOICES.items(), *CURVES.items()):
        source = (ROOT / name).read_text(encoding="utf-8")
        assert all(part in source for part in allowed), name


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('AT_ONCE = ("joint", "bipartite")', "line 1: a list of bipartite, joint"),
        ('AT_ONCE = {"joint": 1} | {"bipartite": 2}\nx = m in ("nmf",)', "line 2: m in ('nmf',)"),
        ('SUMMARIES = {"joint": "ascent", "bipartite": "a net"}', "line 1: a list of bipartite, joint"),
        (
            'slow = [name for name in names if name in {"spannogram", "spca"}]',
            "line 1: a list of spannogram, spca",
        ),
        ('if covariance and name not in ["nmf"]: pass', "line 1: name not in ['nmf']"),
        ('FIRST = ("em", "pca")\nx = name in FIRST', "line 2: name in FIRST"),
        ("x = name in compare_request.FIRST", "line 1: name in compare_request.FIRST"),
        ('x = method == "coordinate"', "line 1: method == 'coordinate'"),
        (
            "def f(method):\n    match method:\n        case 'joint' | 'bipartite': return 1",
            "line 3: case 'joint' | 'bipartite'",
        ),
        ('def f():\n    FIRST = ("em", "pca")', "line 2: a list of em, pca"),
    ],
)
def test_a_planted_fact_is_found(source, fault):
    assert fault in facts(source, {"FIRST"})


def test_choices_pass():
    good = """
FIRST = ("auto", "em", "pca")
names = [name for name in kept or FIRST if name in able]
points = options["bipartite"] if "bipartite" in names else None
def _face_components(method): return method == "pca"
one = solve(problem, "joint", best={"em": 1})
"""
    assert facts(good, {"FIRST"}, {"_face_components"}) == []
    assert len(facts(good, set())) == 2
