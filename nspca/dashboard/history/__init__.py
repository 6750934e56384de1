"""What a workspace has asked for: told in plain words, opened again, held side by side."""
