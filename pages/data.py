"""Data: pick a sample or upload, and look at it."""

from nspca.dashboard import share
from nspca.dashboard.app import frame
from nspca.dashboard.data import page

with frame.page("Data"):
    share.title("Which data?")
    page.show()
