"""How a certificate is refused."""

from nspca.errors import CertificateError


def require(condition, sentence):
    """Refuse with a sentence unless `condition` holds; it is written so that a NaN makes it false."""
    if not condition:
        raise CertificateError(sentence)
