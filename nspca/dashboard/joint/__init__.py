"""The pages Parts, Topics and Components: several components found together."""
