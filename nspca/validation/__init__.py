"""Checks of input shared by every room: options, integers, feature names, AnnData tables and NPZ archives."""
