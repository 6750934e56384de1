"""The scikit-learn estimator `NSPCA`, which wraps the solvers in fit, transform and score."""

from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from nspca.api import certify, solve
from nspca.components import check_disjoint, shares_of_rows
from nspca.covariance.linalg import Array
from nspca.covariance.moments import moments
from nspca.covariance.numbers import real_numbers, sparse_table
from nspca.covariance.sketch import BLOCK_ROWS, FrequentDirections
from nspca.errors import InvalidOption, InvalidProblem
from nspca.presentation.phrases import SKETCHED
from nspca.problem import Problem
from nspca.result import Result, Status
from nspca.validation.annotated import is_annotated, plain
from nspca.validation.features import positions
from nspca.validation.options import flag, known_seed, whole

ROUNDING = 1e-12
"""Relative bound on the rounding of the rows of a sketch and of its error bound."""
FOUND = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "certificates_",
    "mean_",
    "scale_",
    "sketched_",
    "sketch_error_",
    "_stream",
)
"""Attributes set by a fit; the next fit deletes them first."""


class NSPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sparse or nonnegative sparse principal components, each with at most k nonzero loadings.

    Parameters
    ----------
    n_components : int
        Components with disjoint supports. A method with ``METHODS[method].joint`` finds them together; "auto"
        and the others find one after another.
    k : int
        Largest number of nonzero loadings of a component. One component takes all features when there are
        fewer; several, which share none, need ``n_components * k`` of them.
    nonneg : bool
        Nonnegative loadings.
    method : str
        "auto" or a key of `nspca.METHODS`.
    certify : str or None
        Effort of the certificate of the first component; None for none, which is quicker inside a search for
        parameters.
    center, scale : bool
        As in `Problem.from_data`.
    random_state : int, RandomState or None
        Seed of everything random; None stands for 0.
    rank : int
        Directions that `partial_fit` keeps of the rows it has seen; twice as many are in memory.

    Attributes
    ----------
    components_ : (n_components, n_features) ndarray
    explained_variance_ : (n_components,) ndarray
        ``x'Ax`` of every component, with ``A = X'X / m`` of the centred X.
    explained_variance_ratio_ : (n_components,) ndarray
        Explained variances divided by the total variance.
    certificates_ : list of Certificate or None
        One entry per component. Only the first is certified: no component of k features explains more. The
        others have None: each is sought without the features of the earlier ones, or all are found together.
    mean_, scale_ : (n_features,) ndarray
    sketched_ : (rank + n_features, n_features) sparse array
        After `partial_fit`: the rows that the certificate is about, see `partial_fit`.
    sketch_error_ : float
        After `partial_fit`: bound on how much more a component explains of the rows than of the sketch.

    Notes
    -----
    Tables with column names are matched by them: `transform` and `score` find the features of the fit in
    whatever order they are, leave out others, and refuse a table without one of them.
    """

    def __init__(
        self,
        n_components: int = 1,
        k: int = 10,
        nonneg: bool = True,
        method: str = "auto",
        certify: str | None = "fast",
        center: bool = True,
        scale: bool = False,
        random_state: int | np.random.RandomState | None = 0,
        rank: int = 50,
    ) -> None:
        self.n_components, self.k, self.nonneg, self.method, self.certify = (
            n_components,
            k,
            nonneg,
            method,
            certify,
        )
        self.center, self.scale, self.random_state, self.rank = center, scale, random_state, rank

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of X (m, n), dense or sparse, or of AnnData."""
        # Certificates are about the given data: a data frame of sparse columns is sparse once validated.
        given = X
        X = self._validated(X, ensure_min_samples=2)
        self._forget()
        k = self._size(X.shape[1])
        problem = Problem.from_data(given, k, self.nonneg, self.center, self.scale)
        result = self._solved(problem)
        self.components_ = result.components.T
        self.explained_variance_ = result.values
        self.explained_variance_ratio_ = (
            result.values / problem.total_variance if problem.total_variance > 0 else 0 * result.values
        )
        mean, deviation = moments(X)
        self.mean_ = mean if self.center else np.zeros_like(mean)
        self.scale_ = deviation if self.scale else np.ones_like(deviation)
        return self

    def partial_fit(self, X: Any, y: Any = None, finish: bool = True) -> Self:
        """Add rows X (m, n), which the caller need not keep, and find the components of all rows so far.

        A sketch S = VV' of rank `rank` stands for the rows so far (frequent directions), with
        ``S <= A <= S + error I``. The first inequality holds up to rounding, which is part of the error. So a
        component explains at least its variance on S, given by `explained_variance_`, and at most
        `sketch_error_` more.

        The certificate is about the matrix S + error I, not about the rows, which are no longer available:
        ``nspca.verify(est.sketched_, est.certificates_[0])`` proves that no component explains more of that
        matrix than its bound. The inequality A <= S + error I follows from the construction of the sketch;
        checking it needs all rows again.

        Parameters
        ----------
        X : (m, n) array or sparse matrix
        y : ignored
        finish : bool
            Compute the components now; with False the rows are only added to the sketch.
        """
        if self.scale:
            raise InvalidOption(
                "partial_fit cannot scale: deviations are not known before the end; scale first"
            )
        first = not hasattr(self, "_stream")
        X = self._validated(X) if first else self._rows(X)
        if first:
            self._forget()
        n = X.shape[1]
        k = self._size(n)
        if first:
            whole("rank", self.rank, 1)
        # Add all rows of X or, when some are refused, none.
        begun = FrequentDirections(n, min(self.rank, n), self.center) if first else self._stream
        stream: FrequentDirections = copy(begun)
        for start in range(0, X.shape[0], BLOCK_ROWS):
            stream.update(X[start : start + BLOCK_ROWS])
        self._stream: FrequentDirections = stream
        return self._of_sketch(k) if flag("finish", finish) else self

    def _of_sketch(self, k: int) -> Self:
        """Set the components of the rows so far, and return self."""
        found, n = self._stream.sketch(), self._stream.n
        V = found.V
        self.sketch_error_ = found.bound + ROUNDING * (found.bound + float(np.sum(V * V)))
        m = V.shape[1] + n
        rows = sp.vstack((sp.csr_array(V.T), np.sqrt(self.sketch_error_) * sp.eye_array(n)), format="csr")
        self.sketched_ = np.sqrt(m) * rows
        problem = Problem.from_data(self.sketched_, k, self.nonneg, center=False)
        result = self._solved(problem, SKETCHED[bool(self.center)])
        self.components_ = result.components.T
        self.explained_variance_ = np.square(V.T @ result.components).sum(axis=0)
        total = self._stream.total / self._stream.rows
        self.explained_variance_ratio_ = (
            self.explained_variance_ / total if total > 0 else 0 * self.explained_variance_
        )
        self.mean_, self.scale_ = self._stream.mean.copy(), np.ones(n)
        return self

    def _solved(self, problem: Problem, *prepared: str) -> Result:
        """Return the components, and set a certificate of the first, about data that were so `prepared`."""
        count, several = self.n_components, self.n_components > 1
        effort = None if several else self.certify
        result = solve(problem, self.method, components=count, seed=self._seed(), certify=effort)
        first = result.certificate
        if several and self.certify is not None:
            one = Result.of(problem, result.components[:, :1], Status.HEURISTIC, result.method)
            first = certify(problem, one, effort=self.certify)
        first = first and first.of_prepared(prepared)
        self.certificates_ = [first] + [None] * (count - 1)
        return result

    def _forget(self) -> None:
        """Delete the attributes of an earlier fit."""
        for name in FOUND:
            self.__dict__.pop(name, None)

    def transform(self, X: Any) -> Array:
        """Return the scores of the samples along the components, (m, n_components)."""
        check_is_fitted(self, "components_")
        X = self._rows(X)
        used = np.flatnonzero(self.components_.any(axis=0))
        part = X[:, used].toarray() if sp.issparse(X) else X[:, used]
        return ((part - self.mean_[used]) / self.scale_[used]) @ self.components_[:, used].T

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of rows X (m, n) that the components explain.

        On held-out rows this score helps to choose k or the number of components.

        ``sum |Zx|^2 / |Z|^2`` over the components x, with Z the rows minus `mean_`, divided by `scale_`: 1
        minus the relative squared error of the rows as the components reconstruct them. At most 1; on the
        rows of the fit the sum of `explained_variance_ratio_`.
        """
        check_is_fitted(self, "components_")
        X = self._rows(X)
        return float(shares_of_rows(X, self.components_.T, self.mean_, self.scale_).sum())

    def annotate(self, adata: Any, key: str = "nspca") -> Self:
        """Write scores, loadings and explained variances into AnnData, under the names that its tools use.

        Parameters
        ----------
        adata : AnnData
            Gets the scores of its samples as ``obsm["X_" + key]`` (m, n_components), the loadings of its
            features as ``varm[key]`` (n, n_components), 0 for those that were not in the fit, and the
            explained variances as ``uns[key]``.
        key : str
        """
        check_is_fitted(self, "components_")
        if not is_annotated(adata):
            raise InvalidProblem(f"AnnData is annotated, got {type(adata).__name__}; use transform")
        scores, names = self.transform(adata), list(map(str, adata.var_names))
        wanted = list(getattr(self, "feature_names_in_", names))
        loadings = np.zeros((len(names), len(self.components_)))
        # Equal names in equal order may contain duplicates, as gene names do.
        loadings[slice(None) if names == wanted else positions(wanted, names)] = self.components_.T
        adata.obsm[f"X_{key}"], adata.varm[key] = np.asarray(scores), loadings
        adata.uns[key] = {
            "variance": self.explained_variance_,
            "variance_ratio": self.explained_variance_ratio_,
        }
        return self

    def _rows(self, X: Any) -> Any:
        """Return further rows as `_validated` does, with features matched by name where both have names."""
        X, genes = plain(X)
        names = list(getattr(X, "columns", genes or ()))
        known = hasattr(self, "feature_names_in_") and all(isinstance(name, str) for name in names)
        if not known or not names:
            return self._validated(X, reset=False)
        wanted = list(self.feature_names_in_)
        if names != wanted:
            at = positions(wanted, names)
            X = X[:, at] if genes else X[[names[i] for i in at]]
        # names are matched already, and scikit-learn would ask for a data frame
        return self._checked(X) if genes else self._validated(X, reset=False)

    def _validated(self, X: Any, reset: bool = True, **how: Any) -> Any:
        """Return X as scikit-learn validates it, and store or compare its features unless X is refused."""
        X, genes = plain(X)
        found = self._checked(X, **how)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if genes is not None and reset:
            self.feature_names_in_ = np.array(genes, dtype=object)
        return found

    def _checked(self, X: Any, **how: Any) -> Any:
        """Return X as scikit-learn's `check_array` does, and refuse what `Problem.from_data` refuses.

        Errors of scikit-learn for input that is no table stay as they are.
        """
        try:
            found = check_array(
                X, accept_sparse="csr", dtype=np.float64, order="C", estimator=self, input_name="X", **how
            )
        except np.exceptions.DTypePromotionError:  # columns of dates beside numbers, which it does not name
            real_numbers(X, "data")
            raise
        except (TypeError, ValueError):
            raise
        except Exception:  # conversions are the caller's own, of whatever kind
            real_numbers(X, "data")
            raise
        if not sp.issparse(found):  # check_array accepts texts as numbers and ignores masks
            real_numbers(X, "data")
        elif sp.issparse(X) and X.dtype != np.float64:
            sparse_table(X, "data")
        return found

    def _size(self, n: int) -> int:
        """Return the k of a component, after checking that n features are enough."""
        whole("k", self.k, 1)
        whole("n_components", self.n_components, 1, n)
        if self.n_components == 1:
            return min(self.k, n)
        check_disjoint(self.n_components, self.k, n, "fewer n_components")
        return self.k

    def _seed(self) -> int:
        """Return the seed as an int: 0 for None, so that a fit can be repeated; drawn from a generator."""
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        return known_seed(self.random_state)

    @property
    def _n_features_out(self) -> int:
        """Return the number of components, from which scikit-learn names the outputs."""
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the estimator for scikit-learn: sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
