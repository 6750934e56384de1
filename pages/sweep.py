"""Sweep: variance against k, with the certified region."""

from nspca.dashboard import answer_page
from nspca.dashboard.app import frame
from nspca.dashboard.open_data import opened, whole_folder
from nspca.dashboard.sweep import whatif
from nspca.dashboard.sweep.page import SweepPage

with frame.page("Sweep"):
    data = answer_page.open_page("How many features are enough?", lambda: whole_folder(opened()))
    whatif.all_again(data)
    answer_page.show(SweepPage(), data)
