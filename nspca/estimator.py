"""The scikit-learn estimator `NSPCA`, which wraps the solvers in fit, transform and score."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from nspca.api import certify, solve
from nspca.components import check_disjoint, shares_of_rows
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array
from nspca.covariance.moments import moments
from nspca.covariance.numbers import real_numbers, sparse_table
from nspca.covariance.weighing import weighted_moments
from nspca.errors import InvalidOption, InvalidProblem
from nspca.problem import Problem
from nspca.result import Result, Status
from nspca.validation.features import is_annotated, is_xarray, plain_numbers, positions
from nspca.validation.options import check_whole, flag, known_seed

LARGEST_SUM = DENSE_LIMIT
"""Largest number of features whose products `partial_fit` adds up: 128 MB."""
AT_ONCE = 2**20
"""Numbers of the rows that `partial_fit` adds at a time: 8 MB."""
LARGEST_SQUARES = 2.0**900
"""Largest accepted sum of squares of rows that are added up; its inverse is the smallest besides 0."""
FOUND = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "certificates_",
    "mean_",
    "scale_",
    "covariance_",
    "_sums",
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
    covariance_ : (n_features, n_features) ndarray
        After `partial_fit`: the covariance of all rows, which the certificate is about.

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
    ) -> None:
        self.n_components, self.k, self.nonneg = n_components, k, nonneg
        self.method, self.certify = method, certify
        self.center, self.scale, self.random_state = center, scale, random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of X (m, n), dense or sparse, or of AnnData.

        `sample_weight` (m,) has a weight of at least 0 for each sample, as if it were repeated so often.
        Certificates need it: ``nspca.verify(X, est.certificates_[0], sample_weight=sample_weight)``.
        """
        # Certificates are about the given data: a data frame of sparse columns is sparse once validated.
        given = X
        X = self._validated(X, ensure_min_samples=2)
        self._forget()
        k = self._size(X.shape[1])
        how = {"center": self.center, "scale": self.scale, "sample_weight": sample_weight}
        problem = Problem.from_data(given, k, self.nonneg, **how)
        self._solve(problem)
        mean, deviation = moments(X) if sample_weight is None else weighted_moments(X, sample_weight)
        self.mean_ = mean if self.center else np.zeros_like(mean)
        self.scale_ = deviation if self.scale else np.ones_like(deviation)
        return self

    def partial_fit(self, X: Any, y: Any = None, finish: bool = True) -> Self:
        """Add rows X (m, n), which the caller need not keep, and find the components of all rows so far.

        The sum of products of the rows is kept, an (n, n) matrix, for at most `LARGEST_SUM` features. The
        certificate is about `covariance_`, that of all rows: ``nspca.verify(est.covariance_,
        est.certificates_[0])``. Larger tables can be written as a folder of shards and solved there.

        Parameters
        ----------
        X : (m, n) array or sparse matrix
        y : ignored
        finish : bool
            Compute the components now; with False the rows are only added to the sum.
        """
        if self.scale:
            raise InvalidOption(
                "partial_fit cannot scale: deviations are not known before the end; scale first"
            )
        first = not hasattr(self, "_sums")
        X = self._validated(X) if first else self._rows(X)
        if first:
            self._forget()
        n = X.shape[1]
        k = self._size(n)
        if n > LARGEST_SUM:
            raise InvalidOption(
                f"partial_fit keeps an n x n sum of the rows, for at most {LARGEST_SUM} features, got {n}: "
                "write the rows to a file, make shards of it with `python -m nspca shard`, and solve "
                "nspca.Problem.from_shards(folder, k)"
            )
        # Add all rows of X or, when some are refused, none.
        sums = (0, np.zeros(n), np.zeros(n), np.zeros((n, n))) if first else self._sums
        step = max(1, AT_ONCE // n)
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            sums = _merged(sums, rows.toarray() if sp.issparse(rows) else rows, self.center)
        self._sums: Sums = sums
        if flag("finish", finish):
            count, near, shift, total = sums
            self.covariance_ = total / count
            self._solve(Problem.from_covariance(self.covariance_, k, self.nonneg, repair="shift"))
            self.mean_, self.scale_ = near + shift, np.ones(n)
        return self

    def _solve(self, problem: Problem) -> None:
        count, several = self.n_components, self.n_components > 1
        effort = None if several else self.certify
        result = solve(problem, self.method, components=count, seed=self._seed(), certify=effort)
        first = result.certificate
        if several and self.certify is not None:
            one = Result.of(problem, result.components[:, :1], Status.HEURISTIC, result.method)
            first = certify(problem, one, effort=self.certify)
        self.certificates_ = [first] + [None] * (count - 1)
        self.components_, self.explained_variance_ = result.components.T, result.values
        variance = problem.total_variance
        self.explained_variance_ratio_ = result.values / variance if variance > 0 else 0 * result.values

    def _forget(self) -> None:
        for name in FOUND:
            self.__dict__.pop(name, None)

    def transform(self, X: Any) -> Array:
        """Return the scores of the samples along the components, (m, n_components)."""
        check_is_fitted(self, "components_")
        X = self._rows(X)
        used = np.flatnonzero(self.components_.any(axis=0))
        part = X[:, used].toarray() if sp.issparse(X) else X[:, used]
        return ((part - self.mean_[used]) / self.scale_[used]) @ self.components_[:, used].T

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples (m, n) that the components explain, from scores X (m, n_components).

        Components share no features and have length one, so these are the samples nearest to the originals
        that are combinations of the components: ``X @ components_ * scale_ + mean_``.
        """
        check_is_fitted(self, "components_")
        scores = check_array(X, dtype=np.float64, estimator=self, input_name="X")
        if scores.shape[1] != len(self.components_):
            raise InvalidProblem(
                f"X must have a column of scores for each of the {len(self.components_)} components, got "
                f"{scores.shape[1]}; give what transform returned"
            )
        found: Array = scores @ self.components_ * self.scale_ + self.mean_
        return found

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

    def to_xarray(self, X: Any) -> Any:
        """Return components, explained variances and the scores of X as one `xarray.Dataset`.

        Parameters
        ----------
        X : xarray.DataArray (m, n)
            Its dimensions and coordinates are those of the answer: ``components`` (component, features),
            ``scores`` (samples, component) and ``variance`` (component).
        """
        check_is_fitted(self, "components_")
        if not is_xarray(X):
            raise InvalidProblem(f"a DataArray of xarray is required, got {type(X).__name__}; use transform")
        rows, columns = X.dims
        scores = np.asarray(self.transform(X))
        names = getattr(self, "feature_names_in_", X[columns].to_numpy())
        made = type(X.to_dataset(name="scores"))(
            {
                "components": (("component", columns), self.components_),
                "variance": ("component", self.explained_variance_),
                "scores": ((rows, "component"), scores),
            },
            coords={"component": np.arange(1, scores.shape[1] + 1), columns: names},
        )
        return made.assign_coords({rows: X.coords[rows]}) if rows in X.coords else made

    def _rows(self, X: Any) -> Any:
        """Return further rows as `_validated` does, with features matched by name where both have names."""
        X, genes = plain_numbers(X)
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
        X, genes = plain_numbers(X)
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
        check_whole("k", self.k, 1)
        check_whole("n_components", self.n_components, 1, n)
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


Sums = tuple[int, Array, Array, Array]
"""Number of rows, a vector near their mean, their mean minus that vector, and their sum of products."""


def _merged(sums: Sums, rows: Array, center: bool) -> Sums:
    """Return the sums of the rows so far and some more, about their mean if asked.

    Sums about two means are merged by ``(bc / (b + c)) dd'``, d the difference of the means. All terms are
    positive semidefinite, so no digits cancel, whatever the means are. Means are kept as differences from
    the mean of the first rows, whose own rounding is as large as a mean is.
    """
    (b, near, shift, total), c = sums, len(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        near = rows.mean(axis=0) if center and not b else near
        apart = rows - near
        mean = apart.mean(axis=0) if center else np.zeros_like(near)
        apart -= mean
        far = mean - shift if b else np.zeros_like(near)
        more = apart.T @ apart + (b * c / (b + c)) * np.outer(far, far)
        size = float(np.trace(total + more))
    if not size < LARGEST_SQUARES or (size < 1 / LARGEST_SQUARES and (apart.any() or far.any())):
        raise InvalidProblem(
            "the squares of rows that come one after another must add up to about 1e-270 to 1e270, got "
            f"{size:.3g}; multiply the data by a constant first"
        )
    return b + c, near, shift + (mean - shift) * (c / (b + c)), total + more
