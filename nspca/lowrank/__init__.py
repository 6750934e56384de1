"""The rank-d problem of the 2014 paper: the factor of A, the exact search over cones of the sphere, the
spannogram.

The methods `cone` and `spannogram` solve it, and the bounds use the cone search for their search half.
"""
