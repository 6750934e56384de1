"""What several pages draw: the curve, one component."""
