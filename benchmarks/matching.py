"""Compare the matching step of disjoint components with SciPy's assignment on replicated columns.

    python -m benchmarks.matching [--repeat N]

Sizes are those of the runs of Asteris et al. 2015: r components of s features each out of n. Weights are the
squares of the positive part of Vc, where V is a random factor of rank 5. `ascent.disjoint` passes the same
kind of weights. SciPy gets the same candidate rows and one column for every slot. Both totals must agree.
Times are the best of the repetitions, in milliseconds.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.shared import arguments, say, timed
from nspca.local_search import matching
from nspca.local_search.disjoint import weights

SIZES = (
    (500, 2, 10),
    (500, 4, 25),
    (500, 8, 50),
    (2500, 6, 10),
    (6906, 8, 10),
    (6906, 8, 15),
    (7000, 2, 50),
    (7000, 5, 50),
    (7000, 8, 50),
)
LINE = "{:>6} {:>3} {:>4} {:>9} {:>9} {:>7}"


def by_scipy(Q, sizes):
    """Return the matching that SciPy finds with one column for each slot, as an oracle."""
    rows = matching.candidates(Q, sum(sizes))
    found, slots = linear_sum_assignment(np.repeat(Q[rows], sizes, axis=1), maximize=True)
    labels = np.full(len(Q), -1)
    labels[rows[found]] = np.repeat(np.arange(len(sizes)), sizes)[slots]
    return labels


def main():
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    say(LINE.format("n", "r", "s", "ours", "SciPy", "ratio"))
    for n, r, s in SIZES:
        rng = np.random.default_rng(0)
        Q, sizes = weights(rng.standard_normal((n, 5)) @ rng.standard_normal((5, r)), nonneg=True), (s,) * r
        ours, labels = timed(matching.assign, Q, sizes, repeat=repeat)
        theirs, same = timed(by_scipy, Q, sizes, repeat=repeat)
        assert np.isclose(matching.total(Q, labels), matching.total(Q, same), rtol=1e-12), (n, r, s)
        say(LINE.format(n, r, s, f"{1e3 * ours:.2f}", f"{1e3 * theirs:.2f}", f"{theirs / ours:.1f}"))


if __name__ == "__main__":
    main()
