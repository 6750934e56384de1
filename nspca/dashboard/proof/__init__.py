"""The proof of a component on a page: show, check, improve and download it."""
