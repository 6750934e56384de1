"""The page Components: several components found together."""
