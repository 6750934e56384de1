"""Everything of a result as one ZIP file."""
