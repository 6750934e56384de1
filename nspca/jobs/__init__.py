"""Background runs: an engine that runs named tasks in worker processes, and the store of runs, results and
uploads.
"""

from nspca.jobs.engine import Engine, engine
from nspca.jobs.job import Limits
from nspca.jobs.packing import content_key
from nspca.jobs.state import JobState, Run
from nspca.jobs.store import Store, new_workspace

__all__ = ["Engine", "JobState", "Limits", "Run", "Store", "content_key", "engine", "new_workspace"]
