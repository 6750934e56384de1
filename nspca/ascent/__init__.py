"""Monotone improvement of a feasible answer: one component, several disjoint ones, exchanges and matchings
between them.
"""
