"""The rank-d problem of the 2014 paper: factor of A, exact search over cones, and the spannogram.

The methods `cone` and `spannogram` solve it, and the bounds use the cone search for their search half.
"""
