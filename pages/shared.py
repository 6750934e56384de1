"""Shared: one run, by a link that opens nothing else; it is in no menu."""

from nspca.dashboard import answer_page, share
from nspca.dashboard.app import frame
from nspca.dashboard.joint.page import JointPage
from nspca.dashboard.runs import lookup
from nspca.dashboard.sweep.page import SweepPage
from nspca.specs import SweepSpec

with frame.page("Shared"):
    share.title("Shared with you", fills=True)
    run, one = share.opened()
    page = SweepPage() if isinstance(one.spec, SweepSpec) else JointPage()
    answer_page.show_shared(page, lookup.open_shared(page.kind, run))
