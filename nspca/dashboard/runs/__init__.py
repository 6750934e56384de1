"""A background run on a page: what was asked, started by a button, found again, watched, ended, opened."""
