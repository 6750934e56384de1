"""Upper bounds on the optimum, each with the witness that proves it; docs/certificates.md has the theory.

`nspca.proving` calls `elementary`, `lowrank` and `strongest` for one component, and `joint` for several.
`nspca.selection.membership` calls `membership`. The other modules serve these.
"""
