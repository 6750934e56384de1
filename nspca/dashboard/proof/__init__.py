"""The proof of a component: made, checked, improved, taken home."""
