"""What the papers use sparse components for, on their data."""
