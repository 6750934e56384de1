"""Upper bounds on the optimum, each with the witness that proves it.

The proofs are in docs/note.md. How witnesses are found is in docs/certificates.md.

`nspca.proving` calls `elementary`, `lowrank` and `search`.
`nspca.selection.membership` calls `membership`. The other modules serve these.
"""
