"""The matrix A of a problem: given directly or by centred and scaled data, with its factor, sketches and
changes.
"""
