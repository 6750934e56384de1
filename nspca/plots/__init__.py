"""Plotly figures and small SVG drawings made from plain arrays and tables. Nothing in this package knows
Streamlit.
"""
