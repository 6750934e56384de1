"""Refusal of certificates: every check of the checker calls `require`."""

from nspca.errors import CertificateError


def require(condition: object, sentence: str) -> None:
    """Raise `CertificateError` with a sentence unless `condition` holds; conditions are written so that NaN
    makes them false.
    """
    if not condition:
        raise CertificateError(sentence)
