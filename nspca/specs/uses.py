"""Specs of applications in the papers: gene selection, face detection, and the pitprops table.

The page Papers asks them.
"""

import time
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field as Limits
from pydantic import StrictStr

from nspca.api import solve
from nspca.components import explained_variances, successive
from nspca.data import load_sample
from nspca.errors import InvalidData
from nspca.papers import originals, uses
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.selection.rows import report_whole
from nspca.specs.base import Description
from nspca.specs.question import JsonSpec, Seed, Whole
from nspca.specs.rows import Scored, pack, packed_rows
from nspca.validation import address
from nspca.validation.model import Option

STARTS = 100
"""Default number of random starts of k-means, whose scores are averaged."""
COUNTS = (10, 30, 50, 70, 100, 150, 200, 250)
"""Default numbers of genes."""
PARTS, PART_SIZE = 10, 36
"""Components of the face detection, and pixels in each. Ten disjoint parts of 361 pixels have at most 36."""
TRAIN_FACES, TRAIN_OTHERS = 1000, 2000
"""Maximum numbers of faces and other images for training. The rest is used for testing."""
DETECTORS = ("auto", "em", "greedy signed", "coordinate", "nmf", "pca")
"""Methods whose components are compared in the face detection."""
NEEDED = ("cbcl_nonfaces.npz", "cbcl_test_faces.npz")
"""Files with the other images and the test faces."""
PIXELS = 361
"""Pixels of an image, 19 x 19."""
COMPONENTS = 6
"""Components of the pitprops, as in the tables of the papers."""
PROPS = (
    ("pca, every feature", None, False),
    ("auto, any sign", "auto", False),
    ("em, any sign", "em", False),
    ("greedy, any sign", "greedy", False),
    ("auto, nonnegative", "auto", True),
    ("coordinate, nonnegative", "coordinate", True),
)
"""Name, method (None for plain eigenvectors), nonnegative: the curves of the pitprops figure."""
MOST_CORNERS = 400
"""Maximum corners of a step curve, as many as a screen can show."""


class Use(JsonSpec):
    """Base class of the applications in the papers."""

    use: ClassVar[str]

    def to_query(self) -> dict[str, str]:
        """Return the question as an address of the page Papers."""
        return {"paper": "uses", "use": self.use, **super().to_query()}

    def to_python(self) -> str:
        """Return Python that repeats the run from the JSON of the spec."""
        return (
            "import json\n\nimport nspca\n\n"
            f"spec = nspca.Spec.from_json({self.to_json()!r})\n"
            "print(json.dumps(spec.run(), indent=1))\n"
        )


class GenesSpec(Use):
    """Accuracy of k-means on selected genes in separating leukemias (Sigg and Buhmann 2008, Fig. 4).

    Parameters
    ----------
    content : str
        Hash of the data; empty for any data.
    counts : tuple of int
        Numbers of genes.
    starts : int
        Random starts of k-means.
    prepared : "log" or "standardised"
    seed : int
    """

    kind: ClassVar[str] = "genes"
    use: ClassVar[str] = "genes"

    content: StrictStr = ""
    counts: Annotated[tuple[Whole, ...], Limits(min_length=1)] = COUNTS
    starts: Whole = STARTS
    prepared: Annotated[
        Literal["log", "standardised"], Option("Every gene as", "prepared", address.WORD, always=True)
    ] = "log"
    seed: Seed = 0

    def describe(self) -> Description:
        return Description("Leukemia", "choosing genes", self.details())

    def run(self, report: Report = silent, X: Any = None, labels: Any = None) -> dict[str, Any]:
        """Return a dict of the ``rows``, the number of ``features`` of the table, and the ``seconds``.

        Each row has the keys ``selection, genes, mean, spread``: the score of k-means on so many genes.

        Parameters
        ----------
        X : (m, n) array, optional
            Raw intensities; by default those of the sample.
        labels : (m,) array, optional
        """
        if X is None:
            data = load_sample("leukemia")
            if data.labels is None:
                raise InvalidData("genes need diagnoses to be compared with, got none; get the real data")
            X, labels = data.X, np.array([str(label) for label in data.labels])
        started = time.perf_counter()
        say = packed_rows(report, Scored)
        rows = uses.gene_rows(X, labels, self.counts, self.prepared, self.starts, self.seed, say)
        return {"rows": rows, "features": rows[0]["genes"], "seconds": time.perf_counter() - started}


class DetectionSpec(Use):
    """Accuracy of ten components in separating faces from other images (Zass and Shashua 2006, Fig. 4).

    Parameters
    ----------
    content, others : str
        Hashes of the training faces and of the other images; empty for any.
    methods : tuple of str
    seed : int
    """

    kind: ClassVar[str] = "detection"
    use: ClassVar[str] = "faces"

    content: StrictStr = ""
    others: StrictStr = ""
    methods: tuple[StrictStr, ...] = DETECTORS
    seed: Seed = 0

    def describe(self) -> Description:
        return Description("CBCL faces", "finding faces", self.details())

    def run(
        self, report: Report = silent, faces: Any = None, nonfaces: Any = None, test_faces: Any = None
    ) -> list[dict[str, Any]]:
        """Return rows ``method, test, area, pixels, false, true`` of the ROC curves.

        `pixels` is the number of nonzero weights of all components. `false` and `true` are the corners of the
        curve: shares of other images, and of faces, that are taken for faces.

        The components are computed from 1000 training faces. The support vector machine is trained on these
        and 2000 other images. The remaining training faces, and those of the test set, are tested against the
        remaining other images.

        Parameters
        ----------
        faces, nonfaces, test_faces : (., n) arrays, optional
            Images, one per row; by default read from the folder of originals.
        """
        if faces is None:
            faces = load_sample("cbcl").X
            nonfaces, test_faces = originals.table("nonfaces"), originals.table("test faces")
        rng = np.random.default_rng(self.seed)
        faces, nonfaces = faces[rng.permutation(len(faces))], nonfaces[rng.permutation(len(nonfaces))]
        known, others = min(TRAIN_FACES, len(faces) // 2), min(TRAIN_OTHERS, len(nonfaces) // 2)
        train, rest = (faces[:known], nonfaces[:others]), nonfaces[others:]
        tests = {"rest": (faces[known:], rest), "test set": (test_faces, rest)}
        problem = Problem.from_data(train[0], k=min(PART_SIZE, faces.shape[1] // PARTS), nonneg=True)
        rows: list[dict[str, Any]] = []
        total = len(self.methods)
        for i, method in enumerate(self.methods):
            report(Event(method, i, total))
            say = report_whole(report, i, total, method)
            U = _face_components(problem, train[0], method, self.seed, say)
            for name, curve in uses.detection_curve(U, train, tests, self.seed).items():
                pixels = int(np.count_nonzero(U))
                row = {"method": method, "test": name, "area": curve["area"], "pixels": pixels}
                rows.append(row | {side: _thinned(curve[side]) for side in ("false", "true")})
                report(Event(method, i + 1, total, payload=pack(Scored(rows[-1]))))
        return rows


class PitpropsSpec(Use):
    """Six components of the pitprops by several methods (Zass and Shashua 2006, Fig. 5).

    Parameters
    ----------
    k : int
        Features in each component.
    content : str
        Hash of the matrix; empty for any.
    seed : int
    """

    kind: ClassVar[str] = "pitprops"
    use: ClassVar[str] = "pitprops"

    k: Annotated[
        Whole, Option("Features", "props", address.INTEGER, say=lambda value: f"k = {value}", always=True)
    ] = 5
    content: StrictStr = ""
    seed: Seed = 0

    def describe(self) -> Description:
        return Description("Pitprops", "six components", self.details())

    def run(self, report: Report = silent, A: Any = None) -> list[dict[str, Any]]:
        """Return rows ``method, cardinality, total, adjusted, subspace`` with lists for 1 to 6 components.

        `cardinality` counts nonzero weights. The others are those of `nspca.components.explained_variances`.

        Parameters
        ----------
        A : (n, n) array, optional
            The correlation matrix; by default that of the sample.
        """
        A = load_sample("pitprops").X if A is None else A
        rows: list[dict[str, Any]] = []
        for i, (name, method, nonneg) in enumerate(PROPS):
            report(Event(name, i, len(PROPS)))
            problem = Problem.from_covariance(A, k=self.k, nonneg=nonneg)
            if method is None:
                U = problem.covariance.leading(COMPONENTS)[1]
            else:
                U = self._projected(problem, method, report_whole(report, i, len(PROPS), name))
            curves = {key: values.tolist() for key, values in explained_variances(problem, U).items()}
            cardinality = np.cumsum(np.count_nonzero(U, axis=0)).tolist()
            rows.append({"method": name, "cardinality": cardinality, **curves})
            report(Event(name, i + 1, len(PROPS), payload=pack(Scored(rows[-1]))))
        return rows

    def _projected(self, problem: Problem, method: str, report: Report) -> Any:
        """Return components found in turn, each projected out of A (Sigg and Buhmann 2008, eq. 18).

        Components may share features.
        """
        how: dict[str, Any] = {"seed": self.seed, "report": report, "certify": None}
        one = lambda part: solve(part, method, **how).components[:, 0]  # noqa: E731
        return successive(problem, COMPONENTS, one, "projection")


def _face_components(problem: Problem, faces: Any, method: str, seed: int, report: Report) -> Any:
    """Return the components (n, r) of a method for the training faces."""
    if method == "pca":
        return problem.covariance.leading(PARTS)[1]
    if method == "nmf":
        return uses.principal_parts(faces, PARTS, seed)
    one = replace(problem, nonneg=not method.endswith(" signed"))
    name = method.removesuffix(" signed")
    return solve(one, name, components=PARTS, seed=seed, report=report, certify=None).components


def _thinned(values: Any) -> list[float]:
    """Return a step curve with at most `MOST_CORNERS` corners: its ends and evenly spaced corners."""
    at = np.unique(np.linspace(0, len(values) - 1, min(MOST_CORNERS, len(values))).round().astype(int))
    return [round(float(values[i]), 5) for i in at]
