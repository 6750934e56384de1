"""Checks of input shared by every room: options, integers, tables with feature names, and NPZ archives."""
