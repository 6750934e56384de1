"""Applications of sparse components in the papers: gene selection and face detection.

`gene_rows` is the unsupervised gene selection of Sigg & Buhmann (2008, Section 5.3 and Fig. 4), and
`detection_curve` the face detection of Zass & Shashua (2006, Fig. 4). The figures of these papers call them.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nspca import api
from nspca.covariance.linalg import Array, normalised_columns
from nspca.errors import InvalidData, InvalidProblem
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

FLOOR, CEILING = 100.0, 16000.0
"""Range of raw intensities of gene arrays: values below are noise, values above are saturation."""
BATCH = 256
"""Number of symmetric matrices whose eigenvalues are computed in one call."""


# --- genes ----------------------------------------------------------------------------------------


def select(
    problem: Problem, counts: Iterable[int], report: Report = silent, **options: Any
) -> dict[int, np.ndarray]:
    """Return the features of the first component of EM for each number of features."""
    sweep = api.sweep(problem, counts, methods=("em",), certify=None, report=report, **options)
    return {k: np.flatnonzero(sweep[method, k].components[:, 0]) for method, k in sweep}


def svd_entropy_contributions(Z: Array, report: Report = silent) -> Array:
    """Return the contribution of every feature to the SVD entropy of a dense table (m, n).

    With singular values ``s_j`` of Z and ``v_j = s_j^2 / sum s^2``, the entropy is
    ``E = -sum v_j log v_j / log(number of s_j)``. The contribution is
    ``CE_i = E(Z) - E(Z without column i)``. Ranking features by CE, largest first, is the method "CE + SR"
    of Varshavsky, Gottlieb, Linial and Horn, Bioinformatics 22 (2006), eq. 1-3. The singular values are
    computed from the smaller Gram matrix.
    """
    Z = np.asarray(Z, dtype=np.float64)
    m, n = Z.shape
    if m < 2 or n < 2:
        raise InvalidData(f"the SVD entropy needs at least 2 samples and 2 features, got {m} and {n}")
    Z = Z / (float(np.abs(Z).max(initial=0.0)) or 1.0)
    gram = Z @ Z.T if m <= n else Z.T @ Z
    without = np.empty(n)
    for start in range(0, n, BATCH):
        part = np.arange(start, min(start + BATCH, n))
        if m <= n:
            columns = Z[:, part].T
            matrices = gram - columns[:, :, None] * columns[:, None, :]
        else:  # without the feature, a row and a column of the Gram matrix are zero
            matrices = np.repeat(gram[None], part.size, axis=0)
            matrices[np.arange(part.size), part, :] = 0.0
            matrices[np.arange(part.size), :, part] = 0.0
        without[part] = _entropy(matrices)
        report(Event("entropy of the features", int(part[-1]) + 1, n))
    return _entropy(gram[None])[0] - without


def _entropy(grams: Array) -> Array:
    """Return the SVD entropy (t,) of t tables, given by their Gram matrices (t, p, p)."""
    values = np.maximum(np.linalg.eigvalsh(grams), 0.0)
    total = values.sum(axis=1, keepdims=True)
    share = values / np.where(total > 0, total, 1.0)
    logs = np.log(np.where(share > 0, share, 1.0))
    return -(share * logs).sum(axis=1) / np.log(grams.shape[-1])


def jaccard_of_pairs(labels: Any, clusters: Any) -> float:
    """Return the agreement of a clustering with labels, from 0 to 1.

    The score is the number of pairs of samples that are together in both partitions, over the number of
    pairs together in at least one. It is 1 when no pair is together in either.
    """
    from sklearn.metrics.cluster import pair_confusion_matrix

    (_, second), (first, both) = pair_confusion_matrix(labels, clusters).tolist()
    return both / (first + second + both) if first + second + both else 1.0


def cluster_scores(Z: Array, labels: Any, starts: int = 100, report: Report = silent) -> Array:
    """Return the Jaccard scores (starts,) of k-means clusterings of Z (m, f) from random initialisations.

    The `labels` (m,) are used for the scores and for the number of clusters only.
    """
    from sklearn.cluster import KMeans  # imported late, since the import takes a second

    groups = len(np.unique(np.asarray(labels)))
    scores = np.empty(starts)
    for i in range(starts):
        means = KMeans(groups, init="random", n_init=1, random_state=i).fit(Z)
        scores[i] = jaccard_of_pairs(labels, means.labels_)
        report(Event("k-means", i + 1, starts))
    return scores


def gene_rows(
    X: Array,
    labels: Any,
    counts: Iterable[int],
    prepared: str,
    starts: int,
    report: Report = silent,
    em_starts: str = "range",
) -> list[dict[str, Any]]:
    """Return the Jaccard scores of k-means on selected genes, for each selection method and number of genes.

    X holds raw intensities (m, n), which are `prepared` as `gene_tables` says. The labels (m,) are not used
    for selecting or clustering. k-means has so many `starts`; those of nonnegative EM are "paper" (random
    nonnegative vectors) or "range" (those of nspca). A row has the keys "selection", "genes", "mean" and
    "spread" (standard deviation). The first is for all genes.
    """
    entropy_table, Z = gene_tables(np.asarray(X, dtype=np.float64), prepared)
    n = Z.shape[1]
    counts = [count for count in counts if count <= n]
    problem = Problem.from_data(Z, k=1, nonneg=True)
    signed = Problem(problem.covariance, 1, nonneg=False)
    order = np.argsort(-svd_entropy_contributions(entropy_table, report), kind="stable")
    picked: dict[str, Mapping[int, np.ndarray]] = {
        "em, nonnegative": select(problem, counts, report, starts=em_starts),
        "em, any sign": select(signed, counts, report),
        "CE + SR": {count: order[:count] for count in counts},
        "all genes": {n: np.arange(n)},
    }
    asked = [(name, genes) for genes in [n, *counts] for name in picked if genes in picked[name]]
    rows = []
    for name, genes in asked:
        scores = cluster_scores(Z[:, picked[name][genes]], labels, starts, report)
        mean, spread = float(scores.mean()), float(scores.std())
        rows.append({"selection": name, "genes": int(genes), "mean": mean, "spread": spread})
        report(Event(f"{name}, {genes} genes", len(rows), len(asked)))
    return rows


def gene_tables(X: Array, prepared: str) -> tuple[Array, Array]:
    """Return the table for the SVD entropy and the table for selection, without constant genes.

    "log" are log2 intensities, not centred for the entropy (its ranking is meant for uncentred tables), and
    centred for the rest. "raw" is likewise without the logarithm. "standardised" has mean 0 and variance 1 in
    both tables, as Sigg and Buhmann describe their data.
    """
    Z = np.log2(np.clip(X, FLOOR, CEILING)) if prepared == "log" else X
    Z = Z[:, np.ptp(Z, axis=0) > 0]
    if not Z.shape[1]:
        raise InvalidProblem(
            f"every gene is constant between {FLOOR:g} and {CEILING:g}: these are no raw intensities; take "
            "'standardised'"
        )
    centred = Z - Z.mean(axis=0)
    if prepared == "standardised":
        centred = centred / centred.std(axis=0)
        return centred, centred
    return Z, centred


# --- faces ----------------------------------------------------------------------------------------


def principal_parts(X: Array, rank: int) -> Array:
    """Return the parts of scikit-learn's NMF of X (m, n), as unit columns (n, rank)."""
    from sklearn.decomposition import NMF

    model = NMF(rank, init="nndsvda", max_iter=300, random_state=0)
    return normalised_columns(model.fit(np.asarray(X, dtype=np.float64)).components_.T)


def detection_curve(
    U: Array,
    train: tuple[Array, Array],
    test: tuple[Array, Array],
    scaled: bool = True,
    constant: float = 1.0,
) -> dict[str, Any]:
    """Return the ROC curve of a linear support vector machine (SVM) on the scores ``X @ U``.

    `train` and `test` are faces (p, n) and others (q, n), U (n, r) the components, and `constant` the C of
    the SVM. Every score is standardised; if not `scaled`, all are divided by one number. "false" (t,) and
    "true" (t,) are the shares of the others and of the faces that are classified as faces, by threshold,
    and "area" is the area under the curve.
    """
    from sklearn.metrics import roc_auc_score, roc_curve
    from sklearn.svm import LinearSVC

    known, classes = _stack_scores(train, U)
    scores, truth = _stack_scores(test, U)
    mean, scale = known.mean(axis=0), known.std(axis=0 if scaled else None)
    scale = np.where(scale > 0, scale, 1.0)
    svm = LinearSVC(C=constant, dual=False, random_state=0, max_iter=5000)
    height = svm.fit((known - mean) / scale, classes).decision_function((scores - mean) / scale)
    false, true, _ = roc_curve(truth, height)
    return {"false": false, "true": true, "area": float(roc_auc_score(truth, height))}


def _stack_scores(pair: tuple[Array, Array], U: Array) -> tuple[Array, np.ndarray]:
    """Return the scores (p + q, r) of faces and others, and their classes (1 for faces, 0 for others)."""
    faces, others = (np.asarray(part, dtype=np.float64) @ U for part in pair)
    return np.vstack((faces, others)), np.repeat([1, 0], [len(faces), len(others)])
