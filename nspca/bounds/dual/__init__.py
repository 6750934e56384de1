"""Where good W, M and U come from: the splitting of the conic relaxation, its blocks, where they start and
how they are looked at.
"""
