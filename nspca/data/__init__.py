"""Read files, load samples and prepare data. Each data set is one frozen `Dataset`.

The command line, the specs and the dashboard import these names; `nspca` itself offers the most used ones.
"""

from nspca.data.annotation import annotate
from nspca.data.catalogue import SAMPLES, Original, Sample
from nspca.data.dataset import Dataset
from nspca.data.dialect import Layout
from nspca.data.examples import example_file
from nspca.data.export import frame_to_csv, neutralise
from nspca.data.findings import Finding
from nspca.data.originals import adopt_copy, fetch_sample, is_stand_in, kept_path, original_path
from nspca.data.preparation import PREPARATIONS, prepare
from nspca.data.reading import read, read_layout
from nspca.data.samples import is_at_hand, load_sample
from nspca.data.suspicions import covariance_suggestion, scaling_suggestion
from nspca.data.texts import read_text

__all__ = [
    "PREPARATIONS",
    "SAMPLES",
    "Dataset",
    "Finding",
    "Layout",
    "Original",
    "Sample",
    "adopt_copy",
    "annotate",
    "covariance_suggestion",
    "example_file",
    "fetch_sample",
    "frame_to_csv",
    "is_at_hand",
    "is_stand_in",
    "kept_path",
    "load_sample",
    "neutralise",
    "original_path",
    "prepare",
    "read",
    "read_layout",
    "read_text",
    "scaling_suggestion",
]
