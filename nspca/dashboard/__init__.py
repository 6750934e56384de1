"""The only Streamlit inside the package: what the pages are made of."""
