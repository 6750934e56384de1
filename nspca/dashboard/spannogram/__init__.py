"""The spannogram page: why low-rank problems have exact answers."""
