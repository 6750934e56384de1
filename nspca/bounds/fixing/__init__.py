"""To the optimum: features are fixed in and out, and what is left is branched on, until nothing better exists.

In the order in which they use each other: `stored` (witnesses as a certificate holds them), `node` (a set of
supports, and what is proved of it), `settle` (fix features at a node and improve its bound), `waves` (settle
several nodes at once, here or on workers), `tree` (the search), `arrays` (the certificate of a tree and back).
"""
