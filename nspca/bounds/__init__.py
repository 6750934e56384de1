"""Upper bounds on the optimum, each with the witness that proves it; docs/certificates.md has the theory."""
