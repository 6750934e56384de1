"""Papers: every figure and table of the four papers, printed beside computed; and what the papers use them
for.
"""

from nspca.dashboard.app import frame
from nspca.dashboard.papers import page as papers
from nspca.dashboard.papers import uses

with frame.page("Papers"):
    if papers.chosen() == papers.USES:
        uses.show()
    else:
        papers.show()
