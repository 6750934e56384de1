"""Measure length and width of the files of nspca/: ``python -m scripts.shape``.

Prints the median length of the files, and everything that exceeds these limits:

- functions of more than 50 lines without their docstring;
- classes of more than 200 lines;
- functions with more than 7 arguments;
- lines of more than 110 characters (only counted, for each folder).

`REASONS` says why an exception stays. A test fails when an exception has no reason, or a reason no exception.
"""

import ast
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEDIAN, FUNCTION, CLASS, ARGUMENTS, WIDTH = 120, 50, 200, 7, 110
REASONS = {
    "nspca.cli.solve.add": "one option after another, in the order of the help",
    "nspca.api.sweep": "the public call: half of it says what may be asked",
    "nspca.specs.components.ComponentsSpec": "fields of the question and what is derived from them",
    "nspca.jobs.database.Database": "one connection, one lock, and what is done once when a store is opened",
    "nspca.specs.data.DataSpec": "where data are and what is done to them; half of it is fields and text",
    "nspca.jobs.runs.Runs": "one statement of SQL a method; whoever takes some out takes the transaction "
    "with them",
    "nspca.plots.compare.values_figure": "one keyword for each thing that may be said on the figure",
    "nspca.api.solve": "the public call: every argument is one that users name",
    "nspca.api.certify": "the public call: every argument is one that users name",
    "nspca.bounds.strongest.strongest": "what a bound may start from, and what it may cost",
    "nspca.bounds.fixing.settle.refine": "one loop: what follows a round shares the lift, the "
    "counts and the bound before",
    "nspca.bounds.disjoint.search.JointTree": "one joint tree: nodes, columns, limits and what it says while "
    "it grows",
    "nspca.bounds.fixing.bounding.Bounding": "the state of one node, which half of its lines name",
    "nspca.bounds.fixing.tree.FixingTree": "one tree: heap, limits and what it says while it grows",
    "nspca.papers.uses.gene_rows": "what is clustered, how often, and from which starts",
    "nspca.checker.entry.verify": "the public call: the words of a problem, each of which may be asked for",
    "nspca.data.dataset.Dataset": "a table and all that is known of it; half of it is fields and text",
    "nspca.data.reader.read": "the public call: how a file may have to be read",
    "nspca.data.texts.read_text": "the public call: how words may be counted",
    "nspca.shards.sources.shard": "the public call: how a file may have to be read, and how it is cut",
    "nspca.selection.choice.choose_k": "the public call: the words of a problem, and what its rows undergo",
    "nspca.selection.choice.choose_components": "the same for components",
    "nspca.selection.groups.held_out_group_effects": "the public call: the words of a problem, and how "
    "labels are shuffled",
    "nspca.selection.noise.noise_test": "the public call: the words of a problem, and how it is tested",
    "nspca.estimator.NSPCA": "one class, as scikit-learn wants it; a third are its docstrings",
    "nspca.estimator.NSPCA.__init__": "scikit-learn wants parameters one by one",
    "nspca.problem.Problem": "three public calls make one, and half of it says what their words mean",
    "nspca.problem.Problem.from_shards": "the public call: the words of a problem, and who reads the shards",
    "nspca.jobs.runs.Runs.finish_runs": "one argument for each column that says how a run ended",
    "nspca.jobs.engine.Engine": "one lock over queue, runs and tokens; whoever takes a method out takes the "
    "lock with it",
    "nspca.jobs.engine.Engine._enter": "one argument for each column of a run, and what was ready before",
    "nspca.dashboard.components.spannogram_explorer.explorer_data": "all that goes to the browser, by name",
    "nspca.plots.components.component_figure": "one keyword for each thing that may be said on the figure",
    "nspca.plots.sweeps.sweep_figure": "one keyword for each thing that may stand on the figure, drawn from "
    "the back to the front",
}
"""Reason of each function or class that may exceed the limits, by dotted name."""


def beyond(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Dotted name and measure of every function and class that is too large."""
    for path in sorted(root.glob("nspca/**/*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        yield from _inside(ast.parse(path.read_text(encoding="utf-8")), module)


def _inside(parent: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inner = f"{name}.{node.name}"
            yield from ((inner, words) for words in _measures(node))
            yield from _inside(node, inner)
        else:
            yield from _inside(node, name)


def _measures(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    lines = _length(node)
    if isinstance(node, ast.ClassDef):
        if lines > CLASS:
            yield f"{lines} lines"
        return
    first = node.body[0]
    documented = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    if lines - (_length(first) if documented else 0) > FUNCTION:
        yield f"{lines - (_length(first) if documented else 0)} lines"
    given = [
        a.arg
        for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if a.arg not in ("self", "cls")
    ]
    if len(given) > ARGUMENTS:
        yield f"{len(given)} arguments"


def _length(node: ast.stmt) -> int:
    assert node.end_lineno is not None  # of a tree that was parsed
    return node.end_lineno - node.lineno + 1


def main() -> None:
    texts = {path: path.read_text(encoding="utf-8").splitlines() for path in ROOT.glob("nspca/**/*.py")}
    say = sys.stdout.write
    say(
        f"median length of a file: {statistics.median(map(len, texts.values())):.0f} lines (at most "
        f"{MEDIAN} wanted)\n"
    )
    for name, words in beyond():
        say(f"{name}: {words}{'; ' + REASONS[name] if name in REASONS else ''}\n")
    wide: Counter[str] = Counter()
    for path, lines in texts.items():
        wide[path.relative_to(ROOT).parts[1]] += sum(len(line) > WIDTH for line in lines)
    say(f"lines of more than {WIDTH} characters: {sum(wide.values())}\n")
    for room, count in wide.most_common():
        say(f"  {room}: {count}\n" if count else "")


if __name__ == "__main__":
    main()
