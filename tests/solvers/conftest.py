"""Problems that tests of methods share."""

import numpy as np
import pytest

import nspca
from nspca.covariance.covariance import Covariance
from nspca.covariance.data import RowsCovariance


@pytest.fixture(scope="session")
def pitprops():
    """The 13 x 13 correlation matrix of Jeffers 1967."""
    return nspca.load_sample("pitprops").X


@pytest.fixture(scope="session")
def faces(nspca_data):
    """CBCL training faces, raw grey levels (2429, 361)."""
    return np.load(nspca_data / "cbcl_faces.npz", allow_pickle=False)["X"].astype(float)


@pytest.fixture(scope="session")
def lee_seung_faces(faces):
    """The faces as Lee and Seung 1999 normalise them, image by image."""
    standard = (faces - faces.mean(axis=1, keepdims=True)) / faces.std(axis=1, ddof=1, keepdims=True)
    return np.floor(255 * np.clip(0.25 + 0.25 * standard, 0, 1))


@pytest.fixture(scope="session")
def genes(nspca_data):
    """Leukemia expression (72, 12582)."""
    return np.load(nspca_data / "leukemia_mll.npz", allow_pickle=False)["X"]


@pytest.fixture
def nothing_large(monkeypatch):
    """Refuse blocks and sets of columns of A with more than 600 features on both sides."""

    def watched(name, original):
        def call(self, features):
            assert len(features) <= 600, f"{name} of {len(features)} features"
            return original(self, features)

        return call

    def refused(self):
        raise AssertionError("the whole matrix was formed")

    for name in ("block", "columns"):
        monkeypatch.setattr(RowsCovariance, name, watched(name, getattr(RowsCovariance, name)))
    monkeypatch.setattr(Covariance, "_formed", refused)
    monkeypatch.setattr(RowsCovariance, "_formed", refused)
