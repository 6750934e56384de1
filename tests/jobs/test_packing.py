"""Arguments: equal content, equal key; and nothing but plain data comes back."""

import os
import time

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nspca.errors import JobError
from nspca.jobs import packing

X = np.arange(6.0).reshape(2, 3)


def key(**arguments):
    return packing.packed_key("m:f", packing.pack(arguments))


def test_the_key_follows_content_not_layout():
    assert key(X=X) == key(X=np.asfortranarray(X)) == key(X=X.copy()[:, :])
    assert key(X=X, k=3) == key(k=3, X=X) == key(k=np.int64(3), X=X)
    loose = scipy.sparse.coo_array(([1.0, 2.0, 3.0], ([1, 0, 1], [2, 1, 2])), shape=(2, 3))
    tight = scipy.sparse.csr_array(loose.toarray())
    assert key(X=loose) == key(X=tight)
    assert loose.nnz == 3  # the caller's matrix is as it was
    different = [
        key(X=X),
        key(X=X + 1e-15),
        key(X=X.reshape(3, 2)),
        key(X=X.astype("f4")),
        key(X=tight),
        key(X=X.tobytes()),
        key(Y=X),
    ]
    different += [key(X=X.tolist()), key(X=X, k=3), packing.packed_key("m:g", packing.pack({"X": X}))]
    assert len(set(different)) == len(different)


arrays = hnp.arrays(
    dtype=st.sampled_from(["f8", "f4", "i8", "u1", "?", "U3"]),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)


@given(value=arrays)
def test_every_array_comes_back(value, tmp_path_factory):
    folder = packing.ArrayFolder(tmp_path_factory.mktemp("arrays", numbered=True))
    text = packing.pack({"a": [value]}, folder.keep)
    back = packing.unpack(
        text, lambda kind, digest: packing.read(kind, folder.folder / packing.file_name(kind, digest))
    )["a"][0]
    assert back.dtype == value.dtype and back.shape == value.shape
    np.testing.assert_array_equal(back, value)


def test_a_mapped_argument_cannot_be_changed(tmp_path):
    folder = packing.ArrayFolder(tmp_path)
    text = packing.pack({"X": X}, folder.keep)
    ((kind, digest),) = packing.references(text)
    back = packing.read(kind, tmp_path / packing.file_name(kind, digest))
    assert type(back) is np.ndarray and not back.flags.writeable


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (np.array([object()]), "must hold numbers or strings, got object"),
        (object(), "must be an array or a plain value, got object"),
        ({"$array": "../../etc/passwd"}, r"do not start with '\$', got '\$array'"),
        ({1: 2}, "must be strings"),
        ({1, 2}, "got set"),
    ],
)
def test_what_is_not_plain_data_is_refused(value, sentence):
    with pytest.raises(JobError, match=sentence):
        key(value=value)


def test_tidying_spares_what_is_new_or_needed_and_takes_the_longest_unused_first(tmp_path):
    folder = packing.ArrayFolder(tmp_path)
    digests = []
    for i in range(5):
        text = packing.pack({"raw": bytes([i]) * 100}, folder.keep)
        digests += [digest for _, digest in packing.references(text)]
        os.utime(tmp_path / f"{digests[-1]}.bin", (time.time() - 9000 + 1000 * i,) * 2)
    os.utime(tmp_path / f"{digests[4]}.bin")

    def left():
        return [i for i, digest in enumerate(digests) if (tmp_path / f"{digest}.bin").exists()]

    folder.tidy({digests[0]}, limit=400, max_age=1e9)
    assert left() == [0, 2, 3, 4]
    folder.tidy(set(), limit=10**9, max_age=8500.0)
    assert left() == [2, 3, 4]
    folder.tidy(set(), limit=0, max_age=1e9)
    assert left() == [4]


def test_a_full_disk_is_one_sentence_and_leaves_no_half_file(tmp_path, monkeypatch):
    def full(kind, value, file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packing, "_write", full)
    with pytest.raises(JobError, match=r"could not be kept in .*No space left on device"):
        packing.ArrayFolder(tmp_path).keep("$bytes", "d", b"x")
    assert list(tmp_path.iterdir()) == []
