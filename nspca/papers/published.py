"""Every number and statement that the papers print about their experiments.

`nspca.papers` puts these entries into its items, where computed numbers are compared with them.
`PRINTED` has one key for each figure, table and theorem that is an item. Statements of the text are listed
with the figure or table that they are about. Places are pages of the proceedings, counted from 1, or sections
of the 2014 paper.
"""

from nspca.papers.item import Kind, Printed


def _drawn(what: str, where: str) -> Printed:
    """Return the entry of a drawing without numbers."""
    return Printed("drawn", what, where, "drawn", shown="drawn, no number")


def _statement(
    key: str, what: str, where: str, shown: str, axis: tuple[float, float] | None = None
) -> Printed:
    """Return the entry of a statement of the text; `axis` are the ends of the printed axis of its curve."""
    return Printed(key, what, where, "statement", shown=shown, axis=axis)


def _row(data: str, what: str, where: str, *values: float | None) -> tuple[Printed, ...]:
    """Return the entries of a row of the 2015 tables: TPower, EM, SpanSPCA and SPCABiPart.

    None stands for a number that is not printed, and gives no entry.
    """
    methods = {"tpower": "TPower", "em": "EM", "spanspca": "SpanSPCA", "bipartite": "SPCABiPart"}
    kinds: dict[str, Kind] = {"bipartite": "most"}  # the other methods are to be reproduced, not beaten
    return tuple(
        Printed(f"{data}/{key}", f"{what}, {name}", where, kinds.get(key, "same"), value, f"{value:.2e}")
        for (key, name), value in zip(methods.items(), values, strict=True)
        if value is not None
    )


# Gains with 2, 3, ..., 10 components. The figure is read from right to left, so that 5 components have the
# gain stated in the text.
GAINS = (0.48, 6.51, 8.71, 8.82, 6.80, 7.87, 6.39, 6.67, 6.88)
"""Printed gains in percent, for 2 to 10 components (2015, Figure 2b)."""

PRINTED: dict[str, tuple[Printed, ...]] = {
    "asteris2014-figure-1": (
        Printed(
            "intervals",
            "Intervals between the crossings of the curves with each other and with zero, n = 4, d = 2",
            "Sec. 4.1",
            "same",
            11.0,
            "C(n + 1, 2) + 1 = 11",
        ),
        _statement(
            "candidates", "Candidate supports, n = 4, d = 2, any k", "Sec. 3.2", "at most 4 C(n + 1, 2) = 40"
        ),
    ),
    "asteris2014-figure-2": (_drawn("Feasible arc of (P_2), its eigenvector outside", "Sec. 5"),),
    "asteris2014-figure-3": (
        _drawn("Six components of 40 pixels by Alg. 3 (d = 3, eps = 0.1) and by EM", "Sec. 7"),
    ),
    "asteris2014-figure-4": (
        Printed(
            "share",
            "CBCL faces, k = 180 pixels: variance in 3 directions, as a share of the paper's upper bound, %",
            "Sec. 7",
            "same",
            58.0,
            "58 %",
        ),
        _statement("alike", "CBCL: the paper's method (Alg. 3) and EM", "Sec. 7", "nearly identical"),
    ),
    "asteris2014-figure-5": (
        Printed(
            "share",
            "Leukemia, k = 50 genes: variance in 3 directions, as a share of the paper's upper bound, %",
            "Sec. 7",
            "same",
            44.6,
            "44.6 %",
        ),
        _statement("low", "Leukemia, low k: Alg. 3 against EM", "Sec. 7", "Alg. 3 explains more"),
        _statement("large", "Leukemia, larger k", "Sec. 7", "similar"),
        _statement("speed", "Time of Alg. 3 and of EM", "Sec. 8", "similar, both a few seconds"),
        _statement("range", "Proved share on every data set", "abstract", "at least 40 %"),
    ),
    "asteris2014-figure-6": (
        Printed(
            "share20",
            "LRS spectra, k = 20 bands: variance in 3 directions, as a share of the paper's upper bound, %",
            "Sec. 7",
            "same",
            86.0,
            "86 %",
        ),
        Printed(
            "share90",
            "LRS spectra, k close to 90: variance in 3 directions, as a share of the paper's upper bound, %",
            "Sec. 7",
            "same",
            93.0,
            "nearly 93 %",
        ),
        _statement("alike", "LRS: Alg. 3 and EM", "Sec. 7", "similar"),
        _statement("range", "Proved share on some data sets", "Sec. 7", "70 % or even 90 %"),
    ),
    "asteris2015-figure-1": (_drawn("Bipartite graph of features and places in components", "p. 4"),),
    "asteris2015-figure-2a": (
        Printed(
            "gain",
            "Leukemia, 5 components of 50: gain over components one by one, %",
            "p. 7",
            "gain",
            8.82,
            "+8.82 %",
        ),
        _statement("time", "Time of SPCABiPart", "p. 6", "slower than the methods that deflate", (0.0, 6e9)),
    ),
    "asteris2015-figure-2b": tuple(
        Printed(
            f"gain{r}", f"Leukemia, {r} components of 50: gain, %", "p. 7", "gain", gain, f"+{gain:.2f} %"
        )
        for r, gain in enumerate(GAINS, start=2)
    ),
    "asteris2015-table-1": (
        *_row("amazon", "Amazon reviews, 1500 x 10000", "p. 7", 7.31e3, 7.32e3, 7.31e3, 7.79e3),
        *_row("arcene", "Arcene, 100 x 10000", "p. 7", 1.08e7, 1.02e7, 1.08e7, 1.10e7),
        *_row("cbcl", "CBCL faces, 2429 x 361", "p. 7", 5.06, 5.18, 5.23, 5.29),
        *_row("isolet", "Isolet-5, 1559 x 617", "p. 7", 33.1, 34.3, 33.4, 35.1),
        *_row("leukemia", "Leukemia, 72 x 12582", "p. 7", 5.00e9, 5.03e9, 4.84e9, 5.37e9),
        *_row("pems", "PEMS, 267 x 138672", "p. 7", 3.94, 3.58, 3.89, 3.75),
        *_row("mfeat", "Mfeat pixels, 2000 x 240", "p. 7", 5.00e2, 5.27e2, 5.08e2, 5.47e2),
        _statement("most", "SPCABiPart against the three others", "p. 7", "the highest value in most cases"),
    ),
    "asteris2015-table-2": (
        *_row("nips", "NIPS, 1500 x 12419", "p. 8", 2.51e3, 2.57e3, 2.53e3, 3.34e3),
        *_row("kos", "KOS, 3430 x 6906", "p. 8", 41.4, 42.4, 42.1, 61.4),
        *_row("enron", "Enron, 39861 x 28102", "p. 8", 2.11e2, 2.00e2, 2.09e2, 2.38e2),
        *_row("nytimes", "New York Times, 300000 x 102660", "p. 8", 48.1, None, 48.1, 53.1),
        *(
            Printed(
                f"{data}/gain",
                f"{what}: gain over the best of the others, %",
                "p. 8",
                "gain",
                gain,
                f"+{gain:.2f} %",
            )
            for data, what, gain in (
                ("nips", "NIPS", 29.98),
                ("kos", "KOS", 44.57),
                ("enron", "Enron", 12.90),
                ("nytimes", "New York Times", 10.38),
            )
        ),
        _statement("always", "SPCABiPart against the three others", "p. 7", "consistently above them"),
    ),
    "asteris2015-table-3": (
        Printed(
            "topics",
            "New York Times, 8 topics of 10 words",
            "p. 8",
            "statement",
            shown="eight lists of words",
        ),
    ),
    "asteris2014-theorem-1": (
        _statement("theorem1", "Value of Alg. 1, rank d", "Theorem 1", "at least rho_d of the optimum"),
        _statement(
            "theorem2",
            "Value of Alg. 3, rank d and eps",
            "Theorem 2",
            "at least (1 - eps) rho_d of the optimum",
        ),
    ),
    "asteris2015-theorem-2": (
        _statement(
            "promise",
            "Total of Alg. 3",
            "p. 5",
            "at least (1 - eps) of the optimum minus the loss of the sketch",
        ),
    ),
    "sigg2008-figure-1": (_drawn("Axis-aligned descent to the l1 diamond", "p. 4"),),
    "sigg2008-figure-2-left": (
        _drawn("Faces, any sign: variance against cardinality", "p. 6"),
        _statement(
            "renormalised",
            "EM against the greedy path (PathSPCA)",
            "p. 6",
            "level, once weights are computed anew on the support",
        ),
        _statement("one-sign", "First principal component of the faces", "p. 6", "has one sign"),
    ),
    "sigg2008-figure-2-middle": (_drawn("Genes, any sign: variance against cardinality", "p. 6"),),
    "sigg2008-figure-2-right": (
        _statement(
            "flat", "Genes: time of EM against K", "p. 6", "hardly depends on K; the greedy path's grows"
        ),
        Printed("steps", "EM steps on average", "p. 4", "least", 10.0, "fewer than 10"),
        _statement("more", "EM steps for K = 10 to 25", "p. 6", "more than for other K"),
    ),
    "sigg2008-figure-3-left": (
        _statement(
            "time",
            "Faces, nonnegative: time of EM against NSPCA, mean for K = 1 .. 100",
            "p. 6",
            "0.4 s (deviation 0.15) against 24 s (14.7)",
        ),
        _statement("alpha", "NSPCA with small alpha", "p. 6", "finds only answers near full cardinality"),
        _statement("comparable", "NSPCA with small alpha", "p. 6", "comparable to EM", (2.0, 20.0)),
        _statement("degrades", "NSPCA with larger alpha", "p. 6", "explains less"),
    ),
    "sigg2008-figure-3-middle": (
        _statement(
            "more",
            "Orthogonal components of the faces: EM against NSPCA",
            "p. 7",
            "EM explains significantly more",
            (0.0, 70.0),
        ),
    ),
    "sigg2008-figure-3-right": (
        _statement(
            "first",
            "Components 85 degrees apart, the first ones: EM against NSPCA",
            "p. 7",
            "EM explains more",
            (10.0, 90.0),
        ),
        _statement("all", "All ten components together", "p. 7", "NSPCA explains more", (10.0, 90.0)),
    ),
    "sigg2008-figure-4": (
        _statement(
            "seventy",
            "70 genes of the nonnegative component against all genes, Jaccard score of k-means",
            "p. 7",
            "significantly better",
            (0.2, 0.9),
        ),
    ),
    "zass2006-figure-1": (_drawn("A quartic in one entry, and its derivative", "Sec. 4"),),
    "zass2006-figure-2": (
        _statement("alpha", "Faces: overlap when alpha rises from 2e7 to 5e8", "Sec. 5", "decreases"),
        _statement("sparser", "Nonzero weights when alpha rises to 5e8", "Sec. 5", "become fewer"),
        _statement("remains", "Overlap when beta rises to 2e6", "Sec. 5", "remains"),
        _statement("beta", "Nonzero weights when beta rises to 2e6", "Sec. 5", "become fewer"),
    ),
    "zass2006-figure-3": (
        _statement("overlap", "Overlap |I - U'U| against alpha", "Sec. 5", "falls, axis to 8", (0.0, 8.0)),
        _statement("sparse", "Nonzero weights against beta", "Sec. 5", "fall, axis to 2500", (0.0, 2500.0)),
    ),
    "zass2006-figure-4": (
        _statement("alpha", "Detection, alpha from 2e7 to 5e8 (beta = 0)", "Sec. 5", "a higher curve"),
        _statement("beta", "Detection, beta from 0 to 2e6 (alpha = 2e7)", "Sec. 5", "a higher curve"),
        _statement("others", "Detection, NSPCA against PCA, NMF and GSPCA", "Sec. 5", "above all others"),
    ),
    "zass2006-figure-5": (
        _drawn("Pitprops: cumulative variance and cardinality of six components", "Sec. 5"),
    ),
}
"""Printed numbers and statements by the name of their item, see `nspca.papers.ITEMS`."""
