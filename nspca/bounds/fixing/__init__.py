"""Search for the optimum by branch and bound, fixing features in and out at every node.

`search` runs one `FixingTree` for a problem. `disjoint` runs one for each class of components.

stored    witnesses in the form that a certificate holds
node      a set of supports with its proofs
ground    the part of A that nodes are bounded on
squares   a bound for features that are nearly copies
tasks     which node to settle within which limits, and the outcome
bounding  the state of the work on a node: its best proof and its best answer
eigenvalues, stages, lifts
          ways to improve it: without a witness, by fixing features, by steps of a lift
settle    all of these in order, and what the children of a node start from
whole     the witness of a core, on the rows that a tree works on
arrays    the arrays of a certificate from a tree, and back
fates     features that every better answer must have or cannot have
tree      the search
"""
