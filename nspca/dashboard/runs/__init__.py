"""Background runs on a page: start, look up, watch, cancel and open them."""
