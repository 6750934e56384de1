"""Parts: images taken apart into pieces that do not overlap, all found at once."""

from nspca.dashboard.app import frame
from nspca.dashboard.joint import page as joint_page
from nspca.dashboard.joint import parts

with frame.page("Parts"):
    joint_page.show("Which parts are images made of?", parts.SUBJECT, parts.VIEW)
