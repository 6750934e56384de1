"""Topics: groups of words, or of any named features, that do not overlap, all found at once."""

from nspca.dashboard.joint import page as joint_page
from nspca.dashboard.joint import topics
from nspca.dashboard.shell import frame

with frame.page("Topics"):
    joint_page.show("What belongs together?", topics.SUBJECT, topics.VIEW)
