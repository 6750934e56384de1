"""Spannogram: why few sets of features need to be checked."""

from nspca.dashboard import answer_page
from nspca.dashboard.app import frame
from nspca.dashboard.open_data import opened
from nspca.dashboard.spannogram.page import SpannogramPage

with frame.page("Spannogram"):
    data = answer_page.open_page("Why few sets need to be checked", opened)
    answer_page.show_at_once(SpannogramPage(), data)
