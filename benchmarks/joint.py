"""Compare disjoint components found together with the 2015 paper and with components found one by one.

    python -m benchmarks.joint [--only NAME] [--quick] [--proofs standard,thorough] [--samples N]

Covers each run of Tables 1 and 2 of Asteris et al. 2015. For each run it prints

- `joint`;
- the paper's own algorithm on a sketch of rank 4 (word counts: 5), as it is and polished on the full A;
- TPower, EM and SpanSPCA (nonnegative: cone) one by one, without the features already used.

Beside each stand the value that the paper prints and the CPU seconds of this run. "reach" is the target of
`joint`. The joint certificate follows, verified from the raw data, then the sketches with their error and the
loss of Theorem 2. Fig. 2 of the paper is an item of `nspca.papers`.

All values are on the full A. Data are scaled only where a row says so. Arcene and mfeat-pix are read from
`NSPCA_DATA`.
"""

import time
from dataclasses import dataclass, field, replace

import nspca
from benchmarks.shared import arguments, say
from benchmarks.tables import LEE_SEUNG, LEUKEMIA, Table
from nspca.covariance import sketch
from nspca.papers.item import PRINTED
from nspca.presentation.numerals import round_down, round_up

LINE = "{:<13} {:<26} {:>12} {:>10} {:>9} {:>8} {:>9} {:>5}"


def line(row, what, total, seconds, published="", share="", target=("", "")):
    """Print one line about a run; the `target` is a number and whether it is reached."""
    say(LINE.format(row.table.name, what, total, published, share, f"{seconds:.2f}", *target))


@dataclass(frozen=True)
class Row:
    """One run.

    Attributes
    ----------
    table : Table
    sizes : tuple of int
    rank : int
        Rank of the sketch of the paper's algorithm.
    reach : float
        Total that `joint` should come to; 0 for none.
    proved : dict
        By effort, the fraction that its certificate should come to.
    published : dict
        The paper's totals by the name of its method.
    """

    table: Table
    sizes: tuple[int, ...]
    rank: int = 4
    reach: float = 0.0
    proved: dict = field(default_factory=dict)
    published: dict = field(default_factory=dict)


def published(table: int, data: str) -> dict[str, float]:
    """Return the totals that the paper prints in a row of a table, by method."""
    row = (one for one in PRINTED[f"asteris2015-table-{table}"] if one.key.startswith(f"{data}/"))
    return {one.key.partition("/")[2]: one.value for one in row}


def fractions(standard: float, thorough: float) -> dict[str, float]:
    return {"standard": standard, "thorough": thorough}


KOS = Table("KOS", "bow-kos", nonneg=False, center=False)
SIGNED = replace(LEUKEMIA, nonneg=False)
CBCL = Table("CBCL/255 >=0", "cbcl", divide=255)
FACES = replace(LEE_SEUNG, name="Lee-Seung >=0")
TABLE = (
    Row(KOS, (15,) * 8, 5, 62.6, fractions(0.94, 0.96), published(2, "kos")),
    Row(replace(KOS, name="KOS >=0", nonneg=True), (15,) * 8, 5, 62.6),
    Row(replace(KOS, name="KOS s=10"), (10,) * 8, 5),
    Row(SIGNED, (40,) * 5, 4, 5.64e9, fractions(0.91, 0.94), published(1, "leukemia")),
    Row(
        Table("Arcene", "arcene", first=100, nonneg=False),
        (40,) * 5, 4, 1.116e7, fractions(0.93, 0.95), published(1, "arcene"),
    ),
    Row(
        Table("mfeat-pix", "mfeat_pix", nonneg=False),
        (40,) * 5, 4, 5.66e2, fractions(0.94, 0.97), published(1, "mfeat"),
    ),
    Row(CBCL, (40,) * 5, 4, 7.123, fractions(0.993, 0.996)),
    Row(FACES, (30,) * 4, proved=fractions(0.95, 0.97)),
    Row(replace(CBCL, name="CBCL/255", nonneg=False), (40,) * 5),
    # small samples, whose search over sets may end at the optimum
    Row(Table("pitprops", "pitprops", nonneg=False), (3, 3)),
    Row(Table("pitprops >=0", "pitprops"), (3, 3)),
    Row(Table("digits", "digits", nonneg=False), (8,) * 4),
    Row(Table("digits >=0", "digits"), (8,) * 4),
)  # fmt: skip


def timed(problem, method, components=1, **options):
    """Return value and CPU seconds of one method."""
    started = time.process_time()
    result = nspca.solve(problem, method, components=components, certify=None, **options)
    return result, time.process_time() - started


def one_by_one(row):
    return ("tpower", "em", "cone" if row.table.nonneg else "spanspca")


def reached(value, target):
    return "yes" if value >= target else "no"


def show(row, quick, samples, efforts):
    """Print all methods of one run, then its certificates and sketches."""
    X = row.table.read()
    if X is None:
        say(f"{row.table.name}: the real data are not here, left out")
        return
    problem = row.table.problem(X, row.sizes)
    single, r = problem.with_k(row.sizes[0]), len(row.sizes)
    best, seconds = timed(problem, "joint")
    runs = [("joint", best, seconds, None)]
    for polish in (False, True):
        label = f"bipartite rank {row.rank}" + (", polished" if polish else "")
        paper = None if polish else row.published.get("bipartite")
        runs.append(
            (label, *timed(problem, "bipartite", rank=row.rank, samples=samples, polish=polish), paper)
        )
    for method in () if quick else one_by_one(row):
        runs.append((f"{method} one by one", *timed(single, method, components=r), row.published.get(method)))
    for label, result, spent, paper in runs:
        is_held = label == "joint" and row.reach
        target = (f"{row.reach:.5g}", reached(result.value, row.reach)) if is_held else ("", "")
        line(row, label, f"{result.value:.6g}", spent, f"{paper:.4g}" if paper else "", target=target)
    for effort in efforts:
        prove(row, X, problem, best, effort)
    if not quick:
        sketches(row, X, problem.leading_eigenvalue)


def prove(row, X, problem, best, effort):
    """Print the joint certificate, verified from the raw data."""
    started, wall = time.process_time(), time.perf_counter()
    certificate = nspca.certify(problem, best, components=len(row.sizes), effort=effort)
    spent, wall = time.process_time() - started, time.perf_counter() - wall
    nspca.verify(X, certificate)
    ratio = certificate.ratio(best.value)
    reach = row.proved.get(effort)
    target = (f"{reach:g}", reached(ratio, reach)) if reach else ("", "")
    what = f"{effort}, {certificate.kind} ({wall:.0f} s waited)"
    share = f"{round_down(ratio, 4):.4f}"
    line(row, what, f"{round_up(certificate.upper, 6):.6g}", spent, share=share, target=target)


def sketches(row, X, largest):
    """Print the error of every sketch, relative to the largest eigenvalue, and the loss of Theorem 2."""
    for kind in sketch.SKETCHES:
        A = row.table.problem(X, row.sizes).covariance  # nothing computed yet
        started = time.process_time()
        found = sketch.make(kind, A, row.rank)
        spent = time.process_time() - started
        loss, error = f"{found.loss(len(row.sizes)) * A.unit:.6g}", f"{found.error * A.unit / largest:.4f}"
        line(row, f"sketch {kind}", loss, spent, share=error)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--only", metavar="NAME", default="", help="rows whose name begins so")
    parser.add_argument("--quick", action="store_true", help="without one by one and sketches")
    parser.add_argument("--proofs", default="standard", help="efforts of certificates, with commas between")
    parser.add_argument("--samples", type=int, default=2000, help="random points of bipartite")
    chosen = parser.parse_args()
    wanted = chosen.only.lower()
    say(LINE.format("data", "what", "total", "published", "share", "cpu s", "reach", "met"))
    say(
        "(proof: the total is the upper bound, the share is proved; sketch: the total is Theorem 2's loss, "
        "the share |A - VV'| / l1)"
    )
    for row in TABLE:
        if row.table.name.lower().startswith(wanted):
            show(row, chosen.quick, chosen.samples, chosen.proofs.split(","))


if __name__ == "__main__":
    main()
