"""Papers: figures and tables of the four papers, printed beside computed; exact methods; uses."""

from nspca.dashboard.app import frame
from nspca.dashboard.papers import page as papers
from nspca.dashboard.papers import uses

SHOWN = {papers.USES: uses.show, papers.EXACT: papers.show_exact}  # other tabs show figures of a paper

with frame.page("Papers"):
    SHOWN.get(papers.chosen(), papers.show)()
