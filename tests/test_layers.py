"""The arrows of the house: who may import whom. Reads the imports themselves, those inside functions too."""

import ast
import functools
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# The ground: what each of these may import.
GROUND = {
    "errors": set(),
    "progress": set(),
    "validation": {"errors"},
    "presentation": set(),
}
# Floors from the ground up; a room may import what is below it and what stands on its own floor.
CHAIN = [
    "covariance",
    "problem",
    "certificate",
    "result",
    "lowrank local_search",
    "bounds",
    "solvers",
    "components",
    "solving proving",
    "api",
    "estimator selection",
]
# Floors inside two rooms. The pages are the last floor of the dashboard, and import none of each other.
BOUNDS = [
    "inequality peaks elimination plan digits remainder core",
    "witness elementary lowrank",
    "dual",
    "kyfan fixing",
    "packed_proof packing",
    "disjoint",
    "best_bound tree_stage bound_search core_search",
    "strongest joint membership",
    "together",
]
DASHBOARD = [
    "app",
    "components",
    "open_folder",
    "open_data",
    "runs",
    "data",
    "views",
    "proof",
    "history",
    "export",
    "answer_page",
    "home",
    "sweep",
    "joint",
    "compare",
    "spannogram",
    "learn",
    "papers",
]
PAGES = {"home", "sweep", "joint", "compare", "spannogram", "learn", "papers"}
# Rooms beside the floors, each with all that it may import.
BESIDE = {
    "checker": {"errors"},
    "verifying": {"errors", "covariance", "checker"},
    "data": {"errors", "progress", "validation"},
    "shards": {"errors", "progress", "validation", "data", "presentation"},
    "plots": {"errors", "progress", "presentation", "result", "certificate"},
    "jobs": {"errors", "progress"},
}
SCEPTIC = "numpy"  # the only package that the checker may import


def floors(lines: list[str], below: set[str]) -> dict[str, set[str]]:
    """For every name on the floors, the names it may import."""
    arrows = {}
    for line in lines:
        names = set(line.split())
        arrows |= dict.fromkeys(names, below | names)
        below = below | names
    return arrows


def inside() -> dict[str, dict[str, set[str]]]:
    """Return what each folder or file inside a package may import, by package."""
    dashboard = floors(DASHBOARD, set())
    return {
        "nspca.bounds": floors(BOUNDS, set()),
        "nspca.dashboard": dashboard | {page: dashboard[page] - PAGES | {page} for page in PAGES},
    }


def allowed() -> dict[str, set[str]]:
    """For every room, the rooms it may import."""
    arrows = {name: set(targets) for name, targets in GROUND.items()} | floors(CHAIN, set(GROUND))
    below = set(arrows)
    arrows |= {name: set(targets) for name, targets in BESIDE.items()}
    arrows["problem"] |= {"shards"}
    arrows["api"] |= {"checker"}
    arrows["estimator"] |= {"checker"}
    arrows["planning"] = below | {"data", "shards"}
    arrows["nspca"] = below | {"data", "shards", "verifying", "planning"}
    arrows["papers"] = below | {"data", "shards", "plots", "checker"}
    arrows["specs"] = arrows["papers"] | {"papers", "planning", "verifying"}
    arrows["nspca"] |= {"specs"}
    arrows["cli"] = arrows["specs"] | {"specs", "nspca", "jobs"}
    arrows["dashboard"] = set(arrows["cli"])
    arrows["__main__"] = {"cli"}
    return arrows


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def read_imports(root: Path) -> dict[str, set[str]]:
    """Module -> full names of what it imports, for every file of nspca/, pages/ and app.py under `root`."""
    files = [*root.glob("nspca/**/*.py"), *root.glob("pages/**/*.py"), *root.glob("app.py")]
    known = {module_name(path, root) for path in files}
    return {module_name(path, root): imports_of(path, root, known) for path in files}


def imports_of(path: Path, root: Path, known: set[str]) -> set[str]:
    package = list(path.relative_to(root).parts[:-1])
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                # `from package import name` means the submodule where there is one, otherwise the package
                found.add(full if full in known else base)
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            found |= {
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            }
    return found


def part_of(module: str) -> str:
    """The part of the house a module of nspca belongs to; `nspca` for the public names themselves."""
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else pieces[0]


def wrong_arrows(imports: dict[str, set[str]]) -> list[str]:
    arrows = allowed()
    wrong = []
    for module, targets in sorted(imports.items()):
        if module.split(".")[0] != "nspca":
            continue
        part = part_of(module)
        if part not in arrows:
            wrong.append(f"{module}: no arrows are drawn for {part}")
            continue
        ours = {target for target in targets if target.split(".")[0] == "nspca"}
        wrong += [
            f"{module} imports {target}"
            for target in sorted(ours)
            if part_of(target) not in arrows[part] | {part}
        ]
    return wrong


def wrong_arrows_inside(imports: dict[str, set[str]]) -> list[str]:
    wrong = []
    for room, arrows in inside().items():
        below = lambda module, room=room: module.removeprefix(f"{room}.").split(".")[0]  # noqa: E731
        for module, targets in sorted(imports.items()):
            if not module.startswith(f"{room}."):
                continue
            if below(module) not in arrows:
                wrong.append(f"{module}: no arrows are drawn for {below(module)}")
                continue
            near = sorted(target for target in targets if target.startswith(f"{room}."))
            wrong += [
                f"{module} imports {target}"
                for target in near
                if below(target) not in arrows[below(module)] | {below(module)}
            ]
    return wrong


def cycles(imports: dict[str, set[str]]) -> list[str]:
    """One line per module that reaches itself."""
    graph = {
        module: {target for target in targets if target in imports} - {module}
        for module, targets in imports.items()
    }
    found = []
    for start in sorted(graph):
        seen, waiting = set(), list(graph[start])
        while waiting:
            module = waiting.pop()
            if module == start:
                found.append(f"{start} is in a cycle")
                break
            if module not in seen:
                seen.add(module)
                waiting += graph[module]
    return found


def misplaced_streamlit(imports: dict[str, set[str]]) -> list[str]:
    return [
        f"{module} imports Streamlit"
        for module, targets in sorted(imports.items())
        if any(target.split(".")[0] == "streamlit" for target in targets)
        and not (module == "app" or module.startswith("pages.") or part_of(module) == "dashboard")
    ]


def thick_pages(imports: dict[str, set[str]]) -> list[str]:
    heavy = {"plotly", "numpy", "scipy", "sklearn", "dask", "distributed", "sqlite3"}
    return [
        f"{module} imports {target}"
        for module, targets in sorted(imports.items())
        if module == "app" or module.startswith("pages.")
        for target in sorted(targets)
        if target.split(".")[0] in heavy
    ]


def solvers_that_meet(imports: dict[str, set[str]], methods: set[str]) -> list[str]:
    return [
        f"{module} imports {target}"
        for module in sorted(methods)
        for target in sorted(imports[module] & methods - {module})
    ]


def method_files(root: Path) -> set[str]:
    """A method's file is one in solvers/ with its own `Options` and `solve`."""
    found = set()
    for path in root.glob("nspca/solvers/**/*.py"):
        names = {
            node.name
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        if {"Options", "solve"} <= names:
            found.add(module_name(path, root))
    return found


def sceptic_debts(imports: dict[str, set[str]]) -> list[str]:
    targets = {
        target for module, targets in imports.items() if part_of(module) == "checker" for target in targets
    }
    foreign = {
        target for target in targets if target.split(".")[0] not in {SCEPTIC, *sys.stdlib_module_names}
    }
    return sorted(target for target in foreign if target != "nspca.errors" and part_of(target) != "checker")


def complaints(root: Path) -> list[str]:
    imports = read_imports(root)
    return [
        *wrong_arrows(imports),
        *wrong_arrows_inside(imports),
        *cycles(imports),
        *misplaced_streamlit(imports),
        *thick_pages(imports),
        *solvers_that_meet(imports, method_files(root)),
        *sceptic_debts(imports),
    ]


def test_the_house_stands():
    assert complaints(ROOT) == []


def test_every_file_is_read():
    assert {"nspca", "nspca.errors", "nspca.covariance.linalg", "nspca.__main__", "app"} <= set(
        read_imports(ROOT)
    )


METHOD = "class Options: ...\ndef solve(): ...\n"


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"nspca/covariance/linalg.py": "import nspca.api"}, "nspca.covariance.linalg imports nspca.api"),
        (
            {"nspca/covariance/linalg.py": "def f():\n    from nspca.api import solve"},
            "nspca.covariance.linalg imports nspca.api",
        ),
        (
            {"nspca/bounds/dual/b4.py": "from ...solvers import cone", "nspca/solvers/cone.py": ""},
            "nspca.bounds.dual.b4 imports nspca.solvers.cone",
        ),
        ({"nspca/covariance/linalg.py": "from nspca import solve"}, "nspca.covariance.linalg imports nspca"),
        (
            {"nspca/covariance/linalg.py": "import importlib\nimportlib.import_module('nspca.api')"},
            "nspca.covariance.linalg imports nspca.api",
        ),
        (
            {"nspca/jobs/engine.py": "from nspca.result import Result"},
            "nspca.jobs.engine imports nspca.result",
        ),
        (
            {"nspca/data/x.py": "from . import y", "nspca/data/y.py": "from . import x"},
            "nspca.data.x is in a cycle",
        ),
        ({"nspca/plots.py": "import streamlit as st"}, "nspca.plots imports Streamlit"),
        ({"nspca/api.py": "def f():\n    from streamlit import cache_data"}, "nspca.api imports Streamlit"),
        ({"pages/sweep.py": "import plotly.express as px"}, "pages.sweep imports plotly.express"),
        (
            {
                "nspca/solvers/a.py": METHOD + "from nspca.solvers.b import solve as s",
                "nspca/solvers/b.py": METHOD,
            },
            "nspca.solvers.a imports nspca.solvers.b",
        ),
        (
            {"nspca/checker/entry.py": "from nspca.covariance.linalg import topk"},
            "nspca.checker.entry imports nspca.covariance.linalg",
        ),
        ({"nspca/checker/cover.py": "import nspca"}, "nspca.checker.cover imports nspca"),
        ({"nspca/checker/cover.py": "import scipy.sparse"}, "scipy.sparse"),
        ({"nspca/checker/cover.py": "from scipy import linalg"}, "scipy"),
        (
            {"nspca/dashboard/app/x.py": "from nspca.dashboard.runs import y"},
            "nspca.dashboard.app.x imports nspca.dashboard.runs",
        ),
        (
            {"nspca/dashboard/sweep/x.py": "from ..joint import y", "nspca/dashboard/joint/y.py": ""},
            "nspca.dashboard.sweep.x imports nspca.dashboard.joint.y",
        ),
        ({"nspca/dashboard/attic.py": ""}, "nspca.dashboard.attic: no arrows are drawn for attic"),
        (
            {"nspca/bounds/witness.py": "from nspca.bounds.dual import z", "nspca/bounds/dual/z.py": ""},
            "nspca.bounds.witness imports nspca.bounds.dual.z",
        ),
        (
            {"nspca/cli/x.py": "from nspca.dashboard.app import y"},
            "nspca.cli.x imports nspca.dashboard.app",
        ),
        ({"nspca/newroom.py": ""}, "nspca.newroom: no arrows are drawn for newroom"),
    ],
)
def test_a_planted_fault_is_found(tmp_path, files, complaint):
    base = dict.fromkeys(
        (
            "nspca/__init__.py",
            "nspca/api.py",
            "nspca/result.py",
            "nspca/covariance/linalg.py",
            "nspca/data/__init__.py",
        ),
        "",
    )
    for name, text in (base | files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert complaint in complaints(tmp_path)


def test_allowed_arrows_pass(tmp_path):
    good = {
        "nspca/__init__.py": "from nspca.api import solve",
        "nspca/errors.py": "",
        "nspca/covariance/linalg.py": "import numpy\nfrom nspca.errors import NSPCAError",
        "nspca/api.py": "from .covariance import linalg\nfrom nspca.checker import verify",
        "nspca/checker/__init__.py": "from nspca.checker.entry import verify",
        "nspca/checker/entry.py": "import hashlib\nimport numpy\nfrom nspca.checker import cover\nfrom "
        "..errors import NSPCAError",
        "nspca/checker/cover.py": "import numpy.linalg",
        "nspca/dashboard/app/frame.py": "import streamlit\nimport nspca",
        "pages/data.py": "import streamlit\nfrom nspca.dashboard.app import frame",
        "app.py": "from nspca.dashboard.app import frame",
    }
    for name, text in good.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert complaints(tmp_path) == []
