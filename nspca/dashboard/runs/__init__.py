"""Background runs on a page: started by a button, looked up, watched, cancelled, opened."""
