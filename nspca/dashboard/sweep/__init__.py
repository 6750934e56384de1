"""The sweep page: the largest variance against the number of features k, with proofs."""
