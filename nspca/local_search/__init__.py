"""Improve feasible answers monotonically: one component, several disjoint ones, and exchanges and matchings
between them.
"""
