"""The parts and the topics page: several components found together."""
