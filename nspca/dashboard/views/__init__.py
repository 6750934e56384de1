"""Views that several pages share: the curve, one component, its membership and statement, and the progress of
runs that return rows.
"""
