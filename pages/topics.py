"""Topics: groups of words, or of any named features, that do not overlap, all found at once."""

from nspca.dashboard import frame, joint_page, topics

with frame.page("Topics"):
    joint_page.show("What belongs together?", topics.SUBJECT, topics.VIEW)
