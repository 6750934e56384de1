"""Search for the optimum by branch and bound, fixing features in and out at every node.

`strongest` runs one `FixingTree` for a problem. `disjoint` runs one for each class of components.

stored    witnesses in the form that a certificate holds
node      a set of supports with its proofs
ground    the part of A that nodes are bounded on
settle    fix features at a node and improve its bound
waves     settle several nodes at once, in this process or on workers
arrays    the arrays of a certificate from a tree, and back
fates     features that every better answer must have or cannot have
tree      the search
"""
