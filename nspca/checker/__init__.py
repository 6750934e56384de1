"""The sceptic: proves a certificate from the raw data and the numbers of its witness, and believes nothing.

In the order in which a referee would read it:

    entry       `verify`: what is asked of a certificate, one thing after the other
    reading     a certificate is taken apart, every attribute once, into plain typed values
    matrix      A at unit scale, in blocks, and how far off a computed entry can be
    forms       what is added up for each form of certificate
    inequality  the one inequality: threshold, heights, and what is left of A
    cover       its search half: cones that cover the sphere
    membership  in or out: what answers with a feature, and without it, can reach
    rounding    every margin for rounding, by the rules of docs/rounding.md
    refusal     how a certificate is refused

Each theorem stands beside the code that uses it; docs/certificates.md has them on one page. The package
imports NumPy, the standard library and `nspca.errors`, and nothing of what it checks.
"""

from nspca.checker.entry import verify

__all__ = ["verify"]
