"""Reproduce the figures and tables of the four papers, and compare the printed with the computed numbers.

>>> from nspca import papers
>>> outcome = papers.reproduce("asteris2014-figure-4")
>>> for claim in papers.claims(papers.ITEMS["asteris2014-figure-4"], outcome):
...     print(claim.printed.what, claim.printed.shown, claim.found, claim.verdict)

`ITEMS` lists every figure and table. `reproduce` computes one of them. `stored` returns an outcome that ships
with the project, computed from the original data. The module `report` writes outcomes as one HTML file, and
`uses` has the applications of the papers: gene selection and face detection. The page Papers, the command
`nspca papers` and `benchmarks.papers` use this package.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from threadpoolctl import threadpool_limits

from nspca.covariance.linalg import one_thread
from nspca.data.folders import sample_folder
from nspca.errors import InvalidOption
from nspca.papers import asteris2014, asteris2015, sigg2008, theorems, zass2006
from nspca.papers.item import VERDICTS, Claim, Found, Item, Outcome, Printed, claims, counts
from nspca.papers.originals import Absent, digest, missing, remedy
from nspca.papers.published import PRINTED
from nspca.progress import Report, silent

__all__ = [
    "ITEMS",
    "PAPERS",
    "VERDICTS",
    "Absent",
    "Claim",
    "Found",
    "Item",
    "Outcome",
    "Printed",
    "claims",
    "counts",
    "digest",
    "missing",
    "remedy",
    "reproduce",
    "stored",
]

PAPERS = {
    "asteris2014": "Asteris, Papailiopoulos, Dimakis 2014: Nonnegative Sparse PCA with Provable Guarantees",
    "asteris2015": "Asteris, Papailiopoulos, Kyrillidis, Dimakis 2015: Sparse PCA via Bipartite Matchings",
    "sigg2008": "Sigg, Buhmann 2008: Expectation-Maximization for Sparse and Non-Negative PCA",
    "zass2006": "Zass, Shashua 2006: Nonnegative Sparse PCA",
}

_TOGETHER = """import nspca
data = nspca.load_sample("leukemia")
problem = nspca.Problem.from_data(data.X, k=50, nonneg=False)
alone = nspca.solve(problem, "em", components=5, certify=None, polish=False)
paper = nspca.solve(problem, "bipartite", components=5, certify=None)
joint = nspca.solve(problem, "joint", components=5)
print(paper.value / alone.value - 1, joint.value / alone.value - 1)
"""
_ROW = """import nspca
data = nspca.prepare(nspca.load_sample("cbcl"), "equalised")
problem = nspca.Problem.from_data(data.X, k=40, nonneg=False)
for method, options in (("tpower", {}), ("em", {}), ("spanspca", {"rank": 4})):
    print(method, nspca.solve(problem, method, components=5, certify=None, polish=False, **options).value)
print("bipartite", nspca.solve(problem, "bipartite", components=5, certify=None, rank=4).value)
"""
_TOPICS = """import nspca
data = nspca.load_sample("bow-kos")
problem = nspca.Problem.from_data(data.X, k=15, nonneg=False, center=False)
for method, options in (("tpower", {}), ("em", {}), ("spanspca", {"rank": 5})):
    print(method, nspca.solve(problem, method, components=8, certify=None, polish=False, **options).value)
print("bipartite", nspca.solve(problem, "bipartite", components=8, certify=None, rank=5).value)
"""
_EM = """import nspca
X = nspca.load_sample("cbcl").X
problem = nspca.Problem.from_data(X, k=50, nonneg=False, scale=True)
result = nspca.solve(problem, "em", restarts=1, polish=False)
print(result.info["plain_value"], result.value)
"""
_OWN = """import nspca
from nspca.solvers import coordinate
problem = nspca.Problem.from_data(nspca.load_sample("cbcl").X, k=55, nonneg=True)
options = coordinate.Options(alpha=coordinate.from_paper(problem, 2e7), beta=0.0, restarts=2)
U = coordinate.paper_columns(problem, 10, options)
print(coordinate.overlap(U), (U > 0).sum())
"""
_THEOREMS = """import nspca
from nspca.lowrank.rankd import rho
problem = nspca.Problem.from_data(nspca.load_sample("leukemia").X, k=50)
promised = rho(problem, 3)
result = nspca.solve(problem, "epsnet", rank=3, eps=0.1, polish=False)
print("Theorem 1:", promised, "Theorem 2:", 0.9 * promised, "proved:", result.ratio)
"""
_SKETCH = """import nspca
problem = nspca.Problem.from_data(nspca.load_sample("leukemia").X, k=40, nonneg=False)
paper = nspca.solve(problem, "bipartite", components=5, rank=4, eps=0.1, samples=200, certify=None)
print({name: paper.info[name] for name in ("loss", "promise", "net_points")})
best = nspca.solve(problem, "joint", components=5, certify="fast")
print("proved:", best.ratio)
"""
LABELS = {"asteris2014-theorem-1": "Theorems 1 and 2"}
"""Labels that do not follow from the name of an item."""


def _net(data: str, k: int) -> str:
    """Return the code of Fig. 4 to 6 of 2014: `data` is the expression that loads the table."""
    return f"""import nspca
from nspca.solvers import epsnet
data = {data}
problem = nspca.Problem.from_data(data.X, k={k}, nonneg=True)
options = epsnet.Options(rank=3, eps=0.1, polish=False)
result = epsnet.path(problem, [{k}], options)[{k}]
upper = min(epsnet.upper_bounds(problem, [{k}], options)[0][{k}], problem.leading_eigenvalue)
print("the paper's bound:", result.info["rank_d_value"] / upper)
certificate = nspca.certify(problem, result, effort="fast")
print("proved by nspca:", result.value / nspca.verify(data.X, certificate))
"""


def _item(
    name: str,
    title: str,
    make: Callable[[Report], Outcome],
    *needs: str,
    any_of: bool = False,
    code: str = "",
) -> Item:
    """Return an item with its label, such as "Figure 2 (left)" for the name "sigg2008-figure-2-left".

    `needs` are names of data sets, and the other arguments are fields of `Item`.
    """
    _, kind, number, *part = name.split("-")
    label = f"{kind.capitalize()} {number}" + "".join(f" ({one})" for one in part)
    if label[-1].islower():  # 2a is printed as 2(a)
        label = f"{label[:-1]}({label[-1]})"
    return Item(name, LABELS.get(name, label), title, PRINTED[name], make, needs, code, any_of)


_ALL = (
    _item("asteris2014-figure-1", "A spannogram", asteris2014.figure_1),
    _item("asteris2014-figure-2", "The arc that a support allows", asteris2014.figure_2),
    _item("asteris2014-figure-3", "Six parts of faces", asteris2014.figure_3, "cbcl"),
    _item(
        "asteris2014-figure-4",
        "Faces: variance and its proof",
        asteris2014.figure_4,
        "cbcl",
        code=_net('nspca.prepare(nspca.load_sample("cbcl"), "equalised")', 180),
    ),
    _item(
        "asteris2014-figure-5",
        "Leukemia: variance and its proof",
        asteris2014.figure_5,
        "leukemia",
        code=_net('nspca.load_sample("leukemia")', 50),
    ),
    _item(
        "asteris2014-figure-6",
        "Spectra: variance and its proof",
        asteris2014.figure_6,
        "lrs",
        code=_net('nspca.load_sample("lrs")', 20),
    ),
    _item(
        "asteris2014-theorem-1",
        "Promised shares, and proved ones",
        theorems.single,
        "cbcl",
        "leukemia",
        "lrs",
        any_of=True,
        code=_THEOREMS,
    ),
    _item("asteris2015-figure-1", "Components as a matching", asteris2015.figure_1),
    _item(
        "asteris2015-figure-2a", "Five components of genes", asteris2015.figure_2a, "leukemia", code=_TOGETHER
    ),
    _item(
        "asteris2015-figure-2b",
        "Two to ten components of genes",
        asteris2015.figure_2b,
        "leukemia",
        code=_TOGETHER,
    ),
    _item(
        "asteris2015-table-1",
        "Five components, seven data sets",
        asteris2015.table_1,
        "cbcl",
        "leukemia",
        "arcene",
        "mfeat",
        any_of=True,
        code=_ROW,
    ),
    _item(
        "asteris2015-table-2", "Eight components, bags of words", asteris2015.table_2, "bow-kos", code=_TOPICS
    ),
    _item("asteris2015-table-3", "Eight topics", asteris2015.table_3, "bow-kos"),
    _item(
        "asteris2015-theorem-2",
        "Promise and loss of a sketch",
        theorems.joint,
        "cbcl",
        "leukemia",
        "arcene",
        "mfeat",
        any_of=True,
        code=_SKETCH,
    ),
    _item("sigg2008-figure-1", "The M-step", sigg2008.figure_1),
    _item("sigg2008-figure-2-left", "Faces, any sign", sigg2008.figure_2_left, "cbcl", code=_EM),
    _item("sigg2008-figure-2-middle", "Genes, any sign", sigg2008.figure_2_middle, "leukemia"),
    _item("sigg2008-figure-2-right", "Genes: time", sigg2008.figure_2_right, "leukemia"),
    _item("sigg2008-figure-3-left", "Faces, nonnegative", sigg2008.figure_3_left, "cbcl"),
    _item("sigg2008-figure-3-middle", "Orthogonal components", sigg2008.figure_3_middle, "cbcl"),
    _item("sigg2008-figure-3-right", "Components at an angle", sigg2008.figure_3_right, "cbcl"),
    _item("sigg2008-figure-4", "Choosing genes", sigg2008.figure_4, "leukemia"),
    _item("zass2006-figure-1", "A quartic in one entry", zass2006.figure_1),
    _item("zass2006-figure-2", "Ten parts of faces", zass2006.figure_2, "cbcl", code=_OWN),
    _item("zass2006-figure-3", "What alpha and beta do", zass2006.figure_3, "cbcl"),
    _item("zass2006-figure-4", "Finding faces", zass2006.figure_4, "cbcl", "nonfaces"),
    _item("zass2006-figure-5", "Pitprops", zass2006.figure_5),
)
ITEMS: dict[str, Item] = {item.name: item for item in _ALL}
"""Every figure and table of the four papers by its name."""


def reproduce(name: str, report: Report | None = None) -> Outcome:
    """Compute one figure or table from the originals on this machine, with one thread.

    With several threads, those that wait would count as CPU seconds, up to 0.1 for each call.

    Parameters
    ----------
    name : str
        A key of `ITEMS`.
    report : callable, optional
        Gets progress events and may raise `Cancelled`.

    Returns
    -------
    Outcome
        Empty when all its data are missing. When some are missing, the outcome lacks their rows.
    """
    item, started = find_item(name), time.process_time()
    with one_thread(), threadpool_limits(1, user_api="openmp"):  # each thread has its own limit of OpenMP
        try:
            outcome = item.make(report or silent)
        except Absent as absent:
            outcome = Outcome(said=str(absent))
    return replace(outcome, seconds=time.process_time() - started, computed=time.time())


def find_item(name: str) -> Item:
    """Return the figure or table called `name`.

    Raises
    ------
    InvalidOption
        For an unknown name.
    """
    if name not in ITEMS:
        raise InvalidOption(f"a figure or table is one of {', '.join(ITEMS)}, got {name!r}")
    return ITEMS[name]


def stored(name: str) -> Outcome | None:
    """Return the outcome of an item that ships with the project, or None; computed from the original data."""
    path = sample_folder() / "papers" / f"{find_item(name).name}.json"
    return Outcome.from_json(path.read_bytes()) if path.is_file() else None
