"""Measure speed and memory of common calls: ``python -m benchmarks.speed [part ...]``.

The parts are sweep, wide, cones, enumeration and epsnet. Every row of the printed table is computed in this
run, and ratios compare times of one run. Real data come from the samples catalogue (`NSPCA_DATA`). Without
them their relatives are measured.
"""

import resource
import subprocess
import sys
import time

import numpy as np

import nspca
from nspca.covariance.linalg import rank1
from nspca.lowrank import cones, spannogram
from nspca.lowrank.cones import Budget, Query
from nspca.presentation.numerals import round_down, round_up
from nspca.solvers import epsnet


def say(*columns):
    sys.stdout.write("  ".join(str(c) for c in columns) + "\n")
    sys.stdout.flush()


def timed(function, *args, repeat=3, **kwargs):
    """Return the best of `repeat` wall times, and the answer."""
    best = np.inf
    for _ in range(repeat):
        started = time.perf_counter()
        answer = function(*args, **kwargs)
        best = min(best, time.perf_counter() - started)
    return best, answer


def problem_of(name, k=1):
    data = nspca.load_sample(name)
    if data.source != "real":
        say(f"  ({name}: the {data.source} of {data.X.shape[0]} x {data.X.shape[1]}, not the real data)")
    return nspca.Problem.from_data(data.X, k)


def sweep():
    """Measure 36 values of k on the faces: the exact rank-3 answers alone, and with certificates."""
    n = problem_of("cbcl").n
    ks = np.unique(np.linspace(1, n, 36).astype(int)).tolist()
    for method, effort in (("cone", None), ("cone", "fast"), ("epsnet", "fast"), ("auto", "fast")):
        fresh = lambda m=method, e=effort: nspca.sweep(problem_of("cbcl"), ks, methods=(m,), certify=e)  # noqa: E731
        seconds, outcome = timed(fresh, repeat=2)
        proved = (
            f"fast certificates, lowest ratio {round_down(outcome.frame.ratio.min(), 4):.4f}"
            if effort
            else "no certificates"
        )
        say(f"sweep of {len(ks)} k, {method:7s}: {seconds:6.2f} s, loading included; {proved}")
    say("target of the exact rank-3 sweep (cone): 3 s")


def wide():
    """Measure one k on a 72 x 12582 table: value, certificate and check, in a process of its own."""
    code = (
        "import time, resource, nspca\n"
        "from nspca.presentation.numerals import format_guarantee\n"
        "X = nspca.load_sample('leukemia').X\n"
        "t = time.perf_counter()\n"
        "r = nspca.solve(nspca.Problem.from_data(X, 50))\n"
        "s = time.perf_counter() - t\n"
        "t = time.perf_counter(); nspca.verify(X, r.certificate); v = time.perf_counter() - t\n"
        "m = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        "print(f'wide {X.shape}: solve and certify {s:.2f} s, verify {v:.2f} s, peak {m:.2f} GB,', end=' ')\n"
        "print('ratio', format_guarantee(r.ratio), r.certificate.kind)\n"
    )
    say(
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    say("targets: 2 s, 1 GB, ratio 0.59")


def cone_search():
    """Measure the cone search at tolerance 1e-3 for growing rank."""
    for name, k, targets in (("cbcl", 40, (0.03, 0.15, 0.5)), ("leukemia", 50, (0.2, 0.6, 3.0))):
        problem = problem_of(name, k)
        values, vectors = problem.covariance.leading(5)
        for rank, target in zip((3, 4, 5), targets, strict=True):
            V = vectors[:, :rank] * np.sqrt(values[:rank])
            seconds, cover = timed(cones.search, Query(V, k), Budget(1e-3))
            say(
                f"cone n={problem.n:5d} d={rank}: {seconds:6.3f} s, {cover.cones:5d} cones (target {target} "
                "s)"
            )


def enumeration():
    """Measure enumeration beside the cone search at n = 40, d = 3."""
    V = np.random.default_rng(0).standard_normal((40, 3))
    slow, exact = timed(spannogram.exact_rank_d, V, 10, repeat=1)
    fast, cover = timed(cones.search, Query(V, 10), Budget(1e-3))
    say(
        f"enumeration n=40 d=3: {slow:.2f} s, {exact.candidates} supports; cone {fast:.4f} s, {cover.cones} "
        f"cones: {slow / fast:.0f} x"
    )
    say(f"  values {exact.value:.8f} (exact), {cover.lower:.8f} <= optimum <= {round_up(cover.upper, 9)}")


def sampling():
    """Measure samples per second of the eps-net, beside a plain loop over the rank-1 solver and beside the
    memory bandwidth that it needs.
    """
    bandwidth = copy_bandwidth()
    for name, k, count in (("cbcl", 40, 20000), ("leukemia", 50, 2000)):
        problem = problem_of(name, k)
        values, vectors = problem.covariance.leading(3)
        V = vectors * np.sqrt(values)
        ks = np.unique(np.linspace(1, 360, 36).astype(int)).tolist()
        one, _ = timed(epsnet.sampled, V, [k], True, count, 0)
        every, _ = timed(epsnet.sampled, V, ks, True, count, 0)
        loop, _ = timed(plain_loop, V, k, count // 10, repeat=1)
        say(
            f"epsnet n={problem.n:5d}: {count / one:9.0f} samples/s, {10 * loop / one:4.1f} x the plain "
            f"loop, 36 k for {every / one:.2f} x one, entries of Vc written at "
            f"{count * problem.n * 8 / one / 1e9:.2f} of {bandwidth:.1f} GB/s"
        )
    say("targets at n = 361: 5 x the loop, all k for at most 3 x one")


def plain_loop(V, k, count):
    rng = np.random.default_rng(0)
    best = 0.0
    for _ in range(count):
        c = rng.standard_normal(V.shape[1])
        a = V @ (c / np.linalg.norm(c))
        best = max(best, *(float(np.sum((V.T @ rank1(s, k)) ** 2)) for s in (a, -a)))
    return best


def copy_bandwidth():
    block = np.ones(1 << 24)
    seconds, _ = timed(block.copy, repeat=5)
    return block.nbytes / seconds / 1e9


PARTS = {"sweep": sweep, "wide": wide, "cones": cone_search, "enumeration": enumeration, "epsnet": sampling}


def main(names):
    for name in names or PARTS:
        PARTS[name]()
    say(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main(sys.argv[1:])
