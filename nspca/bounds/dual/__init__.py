"""Search for good W, M and U by a splitting (ADMM) of the conic relaxation.

`fixing` and `dual_search` run a splitting in rounds. They prove the bounds of
the W, M and U that it finds afterwards.

splitting           the iteration on the matrix X
entries, rowcuts    blocks whose duals are W and M
lift, bundle        the block whose dual gives U, and its feasible points
prices              prices of features that several components want
starts, weights     starting points, and the weights of the feasible points
rounds              from an iterate to a bound, and the base class of all searches
stripes             passes over matrices in pieces that fit the processor cache
"""
