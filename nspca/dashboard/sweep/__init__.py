"""The sweep page: variance against k."""
