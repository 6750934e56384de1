"""Runs of a workspace: described in plain words, opened again, and compared side by side."""
