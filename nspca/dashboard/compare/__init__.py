"""The compare page: methods side by side."""
