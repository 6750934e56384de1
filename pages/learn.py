"""Learn: six screens, for somebody who has ten minutes or a class before them."""

from nspca.dashboard.app import frame
from nspca.dashboard.learn import page as learn

with frame.page("Learn"):
    learn.show()
