"""The data page, and what other pages show of the data in use."""
