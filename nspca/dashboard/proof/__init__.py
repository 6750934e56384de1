"""Proof of a component on a page: shown, checked, improved, downloaded."""
