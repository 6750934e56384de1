"""Spannogram: why few sets of features need to be checked."""

from nspca.dashboard import answer_page, spannogram
from nspca.dashboard.app import frame
from nspca.dashboard.open_data import opened

with frame.page("Spannogram"):
    data = answer_page.open_page("Why few sets need to be checked", opened, fills=False)
    spannogram.show(data)
