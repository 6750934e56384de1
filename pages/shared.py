"""Shared: one run, by a link that opens nothing else; it is in no menu."""

from nspca.dashboard import answer_page, open_data, share
from nspca.dashboard.app import frame
from nspca.dashboard.app.wording import nouns_of
from nspca.dashboard.joint.page import JointPage
from nspca.dashboard.runs import lookup
from nspca.dashboard.sweep.page import SweepPage
from nspca.specs import SweepSpec

with frame.page("Shared"):
    share.title("Shared with you", fills=True)
    run, one = share.opened()
    page = SweepPage()
    if not isinstance(one.spec, SweepSpec):
        page = JointPage(nouns_of(open_data.find(one.spec.data, run.workspace).dataset))
    answer_page.show_shared(page, lookup.shared(page.kind, run))
