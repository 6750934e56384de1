"""Write tests/inventory.json: everything that the package, the command line and the dashboard offer.

    python -m scripts.inventory

The list is derived from the code: public names with their arguments, commands with their options, names in
the address of each page, labels of the dashboard's inputs, buttons and downloads, and files of the exports.
``tests/test_inventory.py`` fails when something on the list is no longer offered. Write the list again after
an addition, or after something was taken away on purpose.
"""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

import nspca
from nspca.cli import completion, entry

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "inventory.json"
INPUTS = {
    "checkbox", "choose_one", "file_uploader", "multiselect", "number_input", "pills", "radio",
    "segmented_control", "select_slider", "selectbox", "slider", "text_area", "text_input", "toggle",
}  # fmt: skip
BUTTONS = {"button", "link_button", "offer", "popover", "section_button"}
DOWNLOADS = {"Download", "download", "download_button"}


def offered() -> dict[str, list[str]]:
    """Return everything that is offered, by kind of offer; each list is sorted and without duplicates."""
    found = {
        "public names": _public_names(),
        "commands": _commands(),
        "addresses": _addresses(),
        "questions": _questions(),
        **_labels(),
    }
    return {kind: sorted(set(names)) for kind, names in found.items()}


def _public_names() -> Iterator[str]:
    for name in nspca.__all__:
        public = getattr(nspca, name)
        yield name
        if inspect.isclass(public) and not issubclass(public, Exception):
            members = {*dir(public), *_fields(public)} - {*dir(BaseModel)}
            yield from (f"{name}.{member}" for member in members if not member.startswith("_"))
        elif inspect.isfunction(public):
            yield from (f"{name}({argument})" for argument in inspect.signature(public).parameters)
    for name, method in nspca.METHODS.items():
        options = inspect.signature(method.Options).parameters
        yield f"METHODS[{name}]"
        yield from (f"METHODS[{name}]({option})" for option in options)


def _fields(public: type) -> set[str]:
    return {*getattr(public, "__dataclass_fields__", ()), *getattr(public, "model_fields", ())}


def _commands() -> Iterator[str]:
    for name, parser in completion.subparsers(entry.parser()).items():
        yield name
        for action in parser._actions:
            words = action.option_strings[-1:] or [action.dest]
            yield from (f"{name} {word}" for word in words if word not in ("--help", "help"))


def _addresses() -> Iterator[str]:
    from nspca.dashboard.app import state

    named = {name for names in state.OF_PAGES.values() for name in names.split()}
    yield from (f"{page} {name}" for page, names in state.OF_PAGES.items() for name in names.split())
    yield from (f"every page {name}" for name in state.VALUES if name not in named)


def _questions() -> list[str]:
    from nspca.dashboard.runs import tasks

    return list(tasks.TASKS)


def _labels() -> dict[str, list[str]]:
    """Return the labels of inputs, buttons and downloads, and the files of the exports; ``{}`` stands for
    what is filled in.
    """
    found: dict[str, list[str]] = {"inputs": [], "buttons": [], "downloads": [], "exported files": []}
    for path in [*ROOT.glob("nspca/dashboard/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        labels = [*_assigned(tree, "label")]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args:
                called = ast.unparse(node.func).rpartition(".")[2]
                kinds = {"inputs": INPUTS, "buttons": BUTTONS, "downloads": DOWNLOADS}
                for kind, names in kinds.items():
                    if called in names:
                        named = isinstance(node.args[0], ast.Name) and node.args[0].id == "label"
                        found[kind] += [
                            text for one in (labels if named else node.args[:1]) for text in _texts(one)
                        ]
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(value, ast.Call) and ast.unparse(value.func) == "File" and key is not None:
                        found["exported files"] += _texts(key)
    return found


def _assigned(tree: ast.Module, name: str) -> Iterator[ast.expr]:
    """Yield what is assigned to a name anywhere in a module, also as one of several names at once."""
    for node in ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs = zip(target.elts, node.value.elts, strict=True) if several else [(target, node.value)]
            yield from (value for goal, value in pairs if isinstance(goal, ast.Name) and goal.id == name)


def _texts(node: ast.expr) -> list[str]:
    """Return the texts that an expression can be, each with ``{}`` for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
        return ["".join(parts)]
    return []


def main() -> None:
    text = json.dumps(offered(), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(f"{FILE.name}: {sum(map(len, json.loads(text).values()))} offers\n")


if __name__ == "__main__":
    main()
