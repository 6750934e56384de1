"""What the papers page runs in workers: one figure or table, from the originals on this machine. No
Streamlit.
"""

from nspca import papers
from nspca.progress import Report, silent


def run_item(*, request: dict, report: Report = silent) -> bytes:
    """One item, as the JSON of its `nspca.papers.Outcome`.

    Parameters
    ----------
    request : dict
        ``item``, a key of `nspca.papers.ITEMS`; ``files``, the digest of the data it was asked for, so that
        other files are another question.
    """
    return papers.reproduce(request["item"], report).to_json().encode()
