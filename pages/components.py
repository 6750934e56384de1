"""Components: several groups of features of any table that do not overlap, found together."""

from nspca.dashboard.app import frame
from nspca.dashboard.joint import page, tables

with frame.page("Components"):
    page.show(tables.SUBJECT, tables.VIEW)
