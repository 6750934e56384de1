"""The data page, and the lines about the data in use on other pages."""
