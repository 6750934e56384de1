"""Questions as objects (specs), which are written to and read from addresses and JSON.

A spec opens its data, runs, estimates its cost, describes itself in words, and exports Python code. Pages
make a spec of their form, and a worker runs it. The command `run` runs one from JSON.

    base           fields, validation and JSON of all specs
    data           the data set: source, options of reading, and preparation
    question       the problem, and the methods that all specs share
    sweep, ...     the kinds of questions
    rows           rows that a run reports
    job            the function that a worker calls
"""

from nspca.specs.base import Description, Spec
from nspca.specs.components import ComponentsSpec
from nspca.specs.data import DataSpec
from nspca.specs.optimum import OptimumSpec
from nspca.specs.paper import PaperSpec
from nspca.specs.proof import AnswersSpec, CheckSpec, MembershipSpec
from nspca.specs.published import published_bounds
from nspca.specs.question import ProblemSpec
from nspca.specs.selection import ChoiceSpec, GroupsSpec, NoiseSpec, StabilitySpec
from nspca.specs.sweep import ComparisonSpec, SweepSpec

__all__ = [
    "AnswersSpec", "CheckSpec", "ChoiceSpec", "ComparisonSpec", "ComponentsSpec", "DataSpec", "Description",
    "GroupsSpec", "MembershipSpec", "NoiseSpec", "OptimumSpec", "PaperSpec", "ProblemSpec", "Spec",
    "StabilitySpec", "SweepSpec", "published_bounds",
]  # fmt: skip
