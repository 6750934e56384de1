"""Search for good W, M and U by a splitting of the conic relaxation.

The modules hold the splitting, its blocks, their starting points, and the way from an iterate to a bound.
"""
