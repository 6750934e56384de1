"""Papers: figures and tables of the four papers, printed beside computed; exact methods."""

from nspca.dashboard.app import frame
from nspca.dashboard.papers import page as papers

with frame.page("Papers"):
    papers.show()
