"""The dashboard: content of the Streamlit pages. No other room of the package uses Streamlit."""
