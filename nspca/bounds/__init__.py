"""Upper bounds on the optimum, each with the witness that proves it; docs/certificates.md has the theory.

`nspca.proving` calls `elementary`, `lowrank` and `search`.
`nspca.selection.membership` calls `membership`. The other modules serve these.
"""
