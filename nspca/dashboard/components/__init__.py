"""Streamlit components that run in the browser: Python wrappers with their JavaScript."""
