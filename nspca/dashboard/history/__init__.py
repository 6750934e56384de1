"""The history of a workspace: descriptions of its runs, links that open them, sharing, and comparison."""
