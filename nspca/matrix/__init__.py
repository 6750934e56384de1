"""The matrix A behind a problem: given, or of data that are centred and scaled; its factor, its sketches, A
changed.
"""
