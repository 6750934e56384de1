"""Compare: methods side by side on one problem."""

from nspca.dashboard import answer_page
from nspca.dashboard.app import frame
from nspca.dashboard.compare.page import ComparePage
from nspca.dashboard.open_data import opened

with frame.page("Compare"):
    data = answer_page.open_page("Which method does best?", opened)
    answer_page.show(ComparePage(), data)
