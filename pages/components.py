"""Components: parts of images, topics of texts, or what belongs together in any table, all found together."""

from nspca.dashboard.app import frame
from nspca.dashboard.joint import page

with frame.page("Components"):
    page.show()
