"""The spannogram page, which explains why low-rank problems have exact answers."""
