"""Learn: five screens, for somebody who has ten minutes or a class before them."""

from nspca.dashboard.learn import page as learn
from nspca.dashboard.shell import frame

with frame.page("Learn"):
    learn.show()
