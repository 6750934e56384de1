"""Improve feasible answers monotonically: one component, several disjoint ones, and exchanges.

Methods polish their answers with these modules, and searches for bounds look for better answers with them.
"""
