"""The checker: proves a certificate from the raw data and the numbers of its witness, and trusts nothing
else.

In the order in which a referee would read it:

    entry       `verify`: the checks of a certificate, one after the other
    reading     a certificate is taken apart, every attribute once, into plain typed values
    blocks      the data, in passes over their rows, each checked to bring the same numbers; their weights
    matrix      A at unit scale, in blocks, the error of a computed entry, and the entries above a level
    forms       the sum that bounds the optimum, for each form of certificate but the next two
    fixing      a tree of supports, in which features are fixed in and out
    packing     disjoint components: prices, and a tree of their supports
    inequality  the one inequality: threshold, heights, and the remainder of A
    cover       its search half: cones that cover the sphere; largest sums with a feature and without it
    remainder   the entries outside a core, which weights bound
    rounding    every margin for rounding, by the rules of docs/rounding.md
    refusal     how a certificate is refused

The module `numbers` checks the numbers that it is given.
Each theorem stands beside the code that uses it; docs/note.md has them on one page. The package
imports NumPy, the sparse products of SciPy, the standard library and `nspca.errors`, and nothing of the code
that it checks.
"""

from nspca.checker.entry import verify

__all__ = ["verify"]
