"""Topics: groups of words that do not overlap, all found together."""

from nspca.dashboard.app import frame
from nspca.dashboard.joint import page, topics

with frame.page("Topics"):
    page.show(topics.SUBJECT, topics.VIEW)
