"""The papers page: the printed numbers of the four papers, the computed ones, and runs to reproduce them."""
