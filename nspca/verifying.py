"""Public `verify`: convert data sets to plain arrays and call the checker, which knows no data sets."""

from functools import wraps
from pathlib import Path
from typing import Any

from nspca.checker import verify as proved
from nspca.errors import CertificateError, shown

MOST_DENSE = 2**25
"""Maximum numbers of a sparse table that is written out to name why a certificate is refused: 256 MB."""


@wraps(proved, assigned=())
def verify(data: Any, certificate: Any, problem: Any = None, **words: Any) -> float:
    """Return the upper bound, in the units of the data, that `certificate` proves for `data`.

    Parameters
    ----------
    data : array, data frame, scipy.sparse matrix, `nspca.Dataset` or `nspca.Shards`
        Shards, and data sets of an HDF5 file opened with h5py, are read in blocks of rows and never held
        whole. A certificate about shards can also be verified on a dense data set with equal numbers.
    certificate : Certificate
    problem : Problem, optional
        A certificate about another problem is refused. The proof is about the problem that the certificate
        names: its k, sign, centring, scaling, data or covariance, forced features.
    sample_weight : (m,) array, optional
        Weights of the samples, where the certificate is about some. A `nspca.Dataset` with `weights` has
        them itself.
    k, nonneg, center, scale, source, forced : optional
        Single properties of the problem to require. None requires nothing, and no forced features are ``()``.

    Returns
    -------
    float
        The proved bound, at most the `upper` that the certificate claims.

    Raises
    ------
    CertificateError
        When the certificate proves no bound, with the reason.
    """
    if isinstance(data, str | Path):
        raise CertificateError(
            f"a table is required, got the path {shown(str(data))}: read it with nspca.read, or a folder of "
            "shards with nspca.Shards"
        )
    # A `Dataset` is recognised without an import of `nspca.data`; shards, which have blocks, are not one.
    if hasattr(type(data), "is_covariance") and not hasattr(type(data), "blocks"):
        if data.is_covariance and words.get("source") is None:
            words["source"] = "covariance"
        if words.get("sample_weight") is None:
            words["sample_weight"] = data.weights
        data = _as_certified(data.X, certificate)
    try:
        return proved(data, certificate, problem, **words)
    except CertificateError as error:
        other = _other_storage(data, certificate) if "digests differ" in str(error) else ""
        if other:
            raise CertificateError(other) from None
        raise


def _other_storage(X: Any, certificate: Any) -> str:
    """Return the reason when the certificate is about a table of these numbers in the other storage."""
    import numpy as np
    import scipy.sparse as sp

    from nspca.covariance.numbers import dense_digest

    X = X.to_numpy() if hasattr(X, "to_numpy") else X  # a data frame
    is_dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"
    if is_dense and _as_certified(X, certificate) is not X:
        return (
            "the certificate is about the sparse table of these numbers, got them dense; give "
            "scipy.sparse.csr_array(data), or the data set as nspca.read returns it"
        )
    small = sp.issparse(X) and X.shape[0] * X.shape[1] <= MOST_DENSE
    if small and dense_digest(X.toarray()) == getattr(certificate, "digest", None):
        return (
            "the certificate is about the dense table of these numbers, got them sparse; give data.toarray()"
        )
    return ""


def _as_certified(X: Any, certificate: Any) -> Any:
    """Return a dense table in sparse form if the certificate is about that, as those of shards are."""
    import numpy as np
    import scipy.sparse as sp

    from nspca.covariance.numbers import canonical, dense_digest, sparse_digest

    digest = getattr(certificate, "digest", None)
    if not isinstance(X, np.ndarray) or dense_digest(X) == digest:
        return X
    sparse = canonical(sp.csr_array(X))
    return sparse if sparse_digest(sparse) == digest else X
