"""Parts: images taken apart into pieces that do not overlap, all found together."""

from nspca.dashboard.app import frame
from nspca.dashboard.joint import page, parts

with frame.page("Parts"):
    page.show(parts.SUBJECT, parts.VIEW)
