"""Search for the optimum: features are fixed in and out, and the rest is branched on, until no node is open.

In the order in which they use each other: `stored` (witnesses as a certificate holds them), `node` (a set of
supports, and what is proved of it), `ground` (the matrix that nodes are bounded on), `settle` (fix features
at a node and improve its bound), `waves` (settle several nodes at once, here or on workers), `arrays` (the
certificate of a tree, and back), `tree` (the search).
"""
