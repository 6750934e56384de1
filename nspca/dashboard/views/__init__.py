"""Views that several pages share: the curve, one component, its membership and statement, and sections."""
