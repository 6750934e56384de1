"""Figures that live in the browser: Python beside its JavaScript."""
