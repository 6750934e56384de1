"""Benchmarks: measurements behind the figures of docs/results.md. No test runs them."""
