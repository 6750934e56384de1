"""Upper bounds on the optimum, each with the witness that proves it; docs/certificates.md has the theory."""

from nspca.bounds.effort import Warm, strongest

__all__ = ["Warm", "strongest"]
