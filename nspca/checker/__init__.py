"""The checker: proves a certificate from the raw data and the numbers of its witness, and trusts nothing
else.

In the order in which a referee would read it:

    entry       `verify`: the checks of a certificate, one after the other
    reading     a certificate is taken apart, every attribute once, into plain typed values
    blocks      the data, in passes over their rows, each checked to bring the same numbers
    weighing    weights of samples, whose rows are multiplied by factors
    matrix      A at unit scale, in blocks, and the error of a computed entry
    forms       the sum that bounds the optimum, for each form of certificate but the next two
    fixing      a tree of supports, in which features are fixed in and out
    packing     disjoint components: prices, and a tree of their supports
    inequality  the one inequality: threshold, heights, and the remainder of A
    cover       its search half: cones that cover the sphere
    remainder   the entries outside a core, which weights bound
    membership  largest sums with a feature and without it, by which stages fix features
    rounding    every margin for rounding, by the rules of docs/rounding.md
    refusal     how a certificate is refused

The modules `numbers` and `reach` check numbers and find large entries for these.
Each theorem stands beside the code that uses it; docs/note.md has them on one page. The package
imports NumPy, the sparse products of SciPy, the standard library and `nspca.errors`, and nothing of the code
that it checks.
"""

from nspca.checker.entry import verify

__all__ = ["verify"]
