"""Topics: groups of words, or of any named features, that do not overlap, all found at once."""

from nspca.dashboard.app import frame
from nspca.dashboard.joint import page as joint_page
from nspca.dashboard.joint import topics

with frame.page("Topics"):
    joint_page.show("What belongs together?", topics.SUBJECT, topics.VIEW)
