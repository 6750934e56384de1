"""Questions as objects (specs), which are written to and read from addresses and JSON.

A spec opens its data, runs, estimates its cost, describes itself in words, and exports Python code.

    data           the data set: source, options of reading, and preparation
    question       the problem, and the methods that all specs share
    sweep, ...     one module for each kind of question
    rows, table    rows that a run reports, and folders of shards as the data of a run
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
