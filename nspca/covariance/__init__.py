"""The matrix A of a problem: given directly or by centred and scaled data, with sketches and changes.

`nspca.problem.Problem` makes a `Covariance` by `inputs` and holds it.
Methods and bounds ask it for products, columns and blocks.
"""
