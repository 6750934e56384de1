"""Words of a file are no words of ours: a certificate says what is proved, whatever its labels claim."""

import json
from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.data.preparation import PREPARATIONS
from nspca.errors import CertificateError
from nspca.presentation import phrases
from nspca.validation.archive import read_arrays, write_arrays

X = np.random.default_rng(0).standard_normal((30, 8))
PROBLEM = nspca.Problem.from_data(X, 3)
RESULT = nspca.solve(PROBLEM)
CLAIMS = (
    "proved optimal up to rounding",
    'B8", proved optimal: "',
    "proved\noptimal",
    "\x1b[2Jproved optimal",
)


def file_of(certificate, **header):
    """Return the file of a certificate with other fields in its header; None leaves a field out."""
    arrays = read_arrays(certificate.to_bytes())
    fields = json.loads(str(arrays["header"])) | header
    kept = {name: value for name, value in fields.items() if value is not None}
    return write_arrays(arrays | {"header": np.array(json.dumps(kept))})


def test_the_known_preparations_are_those_that_there_are():
    assert set(PREPARATIONS) == phrases.PREPARED
    said = RESULT.certificate.of_prepared(PREPARATIONS).statement
    assert "(prepared: lee-seung, equalised, log2, off-first, with-header)" in said and '"' not in said


@pytest.mark.parametrize("claim", CLAIMS)
def test_labels_of_a_file_are_quoted_as_the_words_of_the_file(claim):
    read = nspca.Certificate.from_bytes(file_of(RESULT.certificate, kind=claim, prepared=["log2", claim]))
    result = replace(RESULT, certificate=read)
    said = [read.statement, repr(read), read.summary, read.subject, repr(result), result._repr_html_()]
    said.append(repr(replace(nspca.membership(PROBLEM, RESULT), certificate=read)))
    said = [one.replace("&#34;", '"').replace("&quot;", '"') for one in said]
    honest = repr(RESULT).splitlines()[0].rpartition(" (")[0]
    for one in said:
        for unquoted in one.replace(honest, "").split('"')[::2]:  # what stands outside of quotation marks
            assert "proved optimal" not in " ".join(unquoted.split()), one
        assert "\x1b" not in one
    assert "that the file calls" in repr(read) and "what the file calls" in read.statement
    assert nspca.verify(X, read) <= read.upper


def test_a_file_without_the_fields_that_may_be_missing_is_read():
    whole = RESULT.certificate
    for missing in (("prepared",), ("forced",), ("shift",), ("prepared", "forced", "shift")):
        read = nspca.Certificate.from_bytes(file_of(whole, **dict.fromkeys(missing)))
        assert (read.prepared, read.forced, read.shift) == ((), (), 0.0)
        assert nspca.verify(X, read, PROBLEM) == nspca.verify(X, whole, PROBLEM)
    for needed in ("k", "upper", "exponent", "shape"):
        with pytest.raises(CertificateError, match=needed):
            nspca.Certificate.from_bytes(file_of(whole, **{needed: None}))
    with pytest.raises(CertificateError, match="more"):
        nspca.Certificate.from_bytes(file_of(whole, more=1))


@pytest.mark.parametrize("unfinished", [None, [], {"level": [1.0]}])
def test_an_unfinished_tree_is_a_dict_of_arrays(unfinished):
    with pytest.raises(CertificateError, match="unfinished"):
        replace(RESULT.certificate, unfinished=unfinished)
