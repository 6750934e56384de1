"""Parts: images taken apart into pieces that do not overlap, all found at once."""

from nspca.dashboard import frame, joint_page, parts

with frame.page("Parts"):
    joint_page.show("Which parts are images made of?", parts.SUBJECT, parts.VIEW)
