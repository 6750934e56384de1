"""Membership bounds: for every feature, a bound on the answers that have it and on those that lack it.

Every upper bound adds up terms over a support I of at most k features. The maximum over supports with j is a
bound on the answers that use feature j, the maximum over those without j a bound on the others
(docs/certificates.md, *In or out*). So the witness of a certificate is reused. A tiny problem has a tree of
its own, which branches until every support that may be of interest is decided.

claims    what is claimed about single features, and how a certificate states it
sums      claims by variances and by rows of A
sphere    claims by the witness of a certificate
trees     claims by a tree of supports: a complete one, or any without stages
chain     a tree that asks about one feature after the other
sources   all of these for one problem
"""
