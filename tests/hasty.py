"""Few steps and cones for several components together: how far they get is shown by `benchmarks.joint`."""

from dataclasses import replace

from nspca.bounds.plan import JOINT_PLANS

FEW = {"lifting": 3.1e4 * 40, "cap": 500, "searching": 4e6, "rhos": (0.25,), "passes": 1}
PLANS = {effort: replace(JOINT_PLANS[effort], **FEW) for effort in ("standard", "thorough")}
# A search over sets shows what it does within a few nodes; its usual 200 take minutes and close the gap.
PLANS["thorough"] = replace(PLANS["thorough"], sets=(JOINT_PLANS["thorough"].sets[0], 4))


def dask_setup(worker):
    """A worker that starts with this module is hasty to its end."""
    JOINT_PLANS.update(PLANS)


def hire(patch=setattr):
    """The workers that this process starts from now on are such."""
    from nspca.jobs import pool

    cluster = pool.local_cluster
    patch(pool, "local_cluster", lambda count, memory, warm: cluster(count, memory, (*warm, __name__)))
