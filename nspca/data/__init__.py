"""Read files, load samples and prepare data. Each data set is one frozen `Dataset`.

The command line, the specs and the dashboard import these names; `nspca` itself offers the most used ones.
"""

from nspca.data.annotation import annotate
from nspca.data.catalogue import SAMPLES, Original, Sample
from nspca.data.dataset import Dataset
from nspca.data.dialect import Layout
from nspca.data.export import frame_to_csv, neutralise
from nspca.data.findings import Finding
from nspca.data.originals import (
    absent_original,
    adopt_copy,
    fetch_sample,
    is_absent,
    is_installed,
    kept_path,
    original_path,
    present_samples,
    shown_name,
)
from nspca.data.preparation import PREPARATIONS, prepare
from nspca.data.reading import read, read_text
from nspca.data.samples import example_file, load_sample
from nspca.data.suspicions import covariance_suggestion, scaling_suggestion

__all__ = [
    "PREPARATIONS",
    "SAMPLES",
    "Dataset",
    "Finding",
    "Layout",
    "Original",
    "Sample",
    "absent_original",
    "adopt_copy",
    "annotate",
    "covariance_suggestion",
    "example_file",
    "fetch_sample",
    "frame_to_csv",
    "is_absent",
    "is_installed",
    "kept_path",
    "load_sample",
    "neutralise",
    "original_path",
    "prepare",
    "present_samples",
    "read",
    "read_text",
    "scaling_suggestion",
    "shown_name",
]
