"""The arrows of the house: who may import whom. Reads the imports themselves, those inside functions too."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# From the ground up; a name stands for a module or for a package with all its files. A result carries its certificate.
CHAIN = [
    "linalg options",
    "covariance",
    "problem",
    "certificate",
    "result",
    "cones ascent spannogram rankd matching sketch disjoint exchange",
    "bounds",
    "solvers",
    "auto components sweeps",
    "api",
    "estimator",
]
GROUND = {"errors", "progress"}
# What stands beside the chain: the only parts each may import.
BESIDE = {
    "errors": set(),
    "progress": set(),
    "verify": {"errors"},
    "data": GROUND,
    "plots": GROUND | {"result", "certificate"},
    "jobs": GROUND,
}
SCEPTIC = {"numpy", "scipy.linalg"}  # all that verify may use beside the standard library and errors


def allowed() -> dict[str, set[str]]:
    """For every part, the parts it may import."""
    arrows = {part: set(below) for part, below in BESIDE.items()}
    below = set(GROUND)
    for floor in CHAIN:
        names = set(floor.split())
        for name in names:
            arrows[name] = below | names
        below |= names
    arrows["api"] |= {"verify"}
    arrows["estimator"] |= {"verify"}
    arrows["tasks"] = below - {"estimator"} | {"data", "verify", "tasks", "nspca"}
    arrows["nspca"] = below | {"data", "verify"}
    arrows["joint_tasks"] = arrows["tasks"] | {"joint_tasks"}
    arrows["uses"] = below - {"estimator"} | {"uses"}
    arrows["compare_tasks"] = arrows["tasks"] | {"uses", "compare_tasks"}
    arrows["dashboard"] = below | {"data", "verify", "plots", "jobs", "tasks", "joint_tasks", "compare_tasks", "uses", "nspca", "dashboard"}
    arrows["__main__"] = arrows["dashboard"] - {"dashboard"}
    return arrows


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


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
                # `from package import name` means the submodule where there is one, and otherwise the package itself
                found.add(full if full in known or (base, alias.name) == ("scipy", "linalg") else base)
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            found |= {argument.value for argument in node.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)}
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
        inside = {target for target in targets if target.split(".")[0] == "nspca"}
        wrong += [f"{module} imports {target}" for target in sorted(inside) if part_of(target) not in arrows[part] | {part}]
    return wrong


def cycles(imports: dict[str, set[str]]) -> list[str]:
    """One line per module that reaches itself."""
    graph = {module: {target for target in targets if target in imports} - {module} for module, targets in imports.items()}
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
    return [f"{module} imports {target}" for module in sorted(methods) for target in sorted(imports[module] & methods - {module})]


def method_files(root: Path) -> set[str]:
    """A method's file is one in solvers/ with its own `Options` and `solve`."""
    found = set()
    for path in root.glob("nspca/solvers/**/*.py"):
        names = {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if {"Options", "solve"} <= names:
            found.add(module_name(path, root))
    return found


def sceptic_debts(imports: dict[str, set[str]]) -> list[str]:
    targets = {target for module, targets in imports.items() if part_of(module) == "verify" for target in targets}
    return sorted(t for t in targets if t not in SCEPTIC | {"nspca.errors"} and t.split(".")[0] not in sys.stdlib_module_names)


def complaints(root: Path) -> list[str]:
    imports = read_imports(root)
    return [
        *wrong_arrows(imports),
        *cycles(imports),
        *misplaced_streamlit(imports),
        *thick_pages(imports),
        *solvers_that_meet(imports, method_files(root)),
        *sceptic_debts(imports),
    ]


def test_the_house_stands():
    assert complaints(ROOT) == []


def test_every_file_is_read():
    assert {"nspca", "nspca.errors", "nspca.linalg", "nspca.__main__", "app"} <= set(read_imports(ROOT))


METHOD = "class Options: ...\ndef solve(): ...\n"


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"nspca/linalg.py": "import nspca.api"}, "nspca.linalg imports nspca.api"),
        ({"nspca/linalg.py": "def f():\n    from nspca.api import solve"}, "nspca.linalg imports nspca.api"),
        ({"nspca/bounds/b4.py": "from ..solvers import cone", "nspca/solvers/cone.py": ""}, "nspca.bounds.b4 imports nspca.solvers.cone"),
        ({"nspca/linalg.py": "from nspca import solve"}, "nspca.linalg imports nspca"),
        ({"nspca/linalg.py": "import importlib\nimportlib.import_module('nspca.api')"}, "nspca.linalg imports nspca.api"),
        ({"nspca/jobs/engine.py": "from nspca.result import Result"}, "nspca.jobs.engine imports nspca.result"),
        ({"nspca/data/x.py": "from . import y", "nspca/data/y.py": "from . import x"}, "nspca.data.x is in a cycle"),
        ({"nspca/plots.py": "import streamlit as st"}, "nspca.plots imports Streamlit"),
        ({"nspca/api.py": "def f():\n    from streamlit import cache_data"}, "nspca.api imports Streamlit"),
        ({"pages/sweep.py": "import plotly.express as px"}, "pages.sweep imports plotly.express"),
        (
            {"nspca/solvers/a.py": METHOD + "from nspca.solvers.b import solve as s", "nspca/solvers/b.py": METHOD},
            "nspca.solvers.a imports nspca.solvers.b",
        ),
        ({"nspca/verify.py": "from nspca.linalg import topk"}, "nspca.verify imports nspca.linalg"),
        ({"nspca/verify.py": "import scipy.sparse"}, "scipy.sparse"),
        ({"nspca/newroom.py": ""}, "nspca.newroom: no arrows are drawn for newroom"),
    ],
)
def test_a_planted_fault_is_found(tmp_path, files, complaint):
    base = dict.fromkeys(("nspca/__init__.py", "nspca/api.py", "nspca/result.py", "nspca/linalg.py", "nspca/data/__init__.py"), "")
    for name, text in (base | files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert complaint in complaints(tmp_path)


def test_allowed_arrows_pass(tmp_path):
    good = {
        "nspca/__init__.py": "from nspca.api import solve",
        "nspca/errors.py": "",
        "nspca/linalg.py": "import numpy\nfrom nspca.errors import NSPCAError",
        "nspca/api.py": "from . import linalg\nfrom nspca.verify import verify",
        "nspca/verify.py": "from scipy import linalg\nimport numpy as np\nfrom .errors import CertificateError",
        "nspca/dashboard/frame.py": "import streamlit\nimport nspca",
        "pages/data.py": "import streamlit\nfrom nspca.dashboard import frame",
        "app.py": "from nspca.dashboard import frame",
    }
    for name, text in good.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert complaints(tmp_path) == []
