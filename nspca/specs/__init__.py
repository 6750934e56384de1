"""Questions as objects: each opens its data, runs, estimates and describes itself, and goes to and from an
address, JSON and Python.

data           where data are, how a file is read, what is done first
question       the problem, and what every question can do
sweep, ...     one file for each kind of question
rows, table    what a run reports, and how it reads a folder of shards
"""

from nspca.specs.base import Description, Field
from nspca.specs.comparison import ComparisonSpec
from nspca.specs.components import ComponentsSpec
from nspca.specs.data import DataSpec
from nspca.specs.groups import GroupsSpec
from nspca.specs.membership import MembershipSpec
from nspca.specs.optimum import OptimumSpec
from nspca.specs.paper import PaperSpec
from nspca.specs.preview import PreviewSpec
from nspca.specs.proof import CheckSpec, ProofSpec
from nspca.specs.published import published_bounds
from nspca.specs.question import ProblemSpec, Spec
from nspca.specs.selection import ChoiceSpec, ComponentsChoiceSpec, NoiseSpec
from nspca.specs.server import SpeedSpec, TableSpec, WordsSpec
from nspca.specs.stability import ComponentsStabilitySpec, StabilitySpec
from nspca.specs.successive import SuccessiveSpec
from nspca.specs.sweep import SweepSpec
from nspca.specs.uses import DetectionSpec, GenesSpec, PitpropsSpec

__all__ = [
    "CheckSpec",
    "ChoiceSpec",
    "ComparisonSpec",
    "ComponentsChoiceSpec",
    "ComponentsSpec",
    "ComponentsStabilitySpec",
    "DataSpec",
    "Description",
    "DetectionSpec",
    "Field",
    "GenesSpec",
    "GroupsSpec",
    "MembershipSpec",
    "NoiseSpec",
    "OptimumSpec",
    "PaperSpec",
    "PitpropsSpec",
    "PreviewSpec",
    "ProblemSpec",
    "ProofSpec",
    "Spec",
    "SpeedSpec",
    "StabilitySpec",
    "SuccessiveSpec",
    "SweepSpec",
    "TableSpec",
    "WordsSpec",
    "published_bounds",
]
