"""Read files, load samples and prepare data. Each data set is one frozen `Dataset`.

The command line, the specs and the dashboard import these names; `nspca` itself offers the most used ones.
"""

from nspca.data.annotation import annotate
from nspca.data.catalogue import SAMPLES, Original, Sample
from nspca.data.dataset import Dataset
from nspca.data.examples import example_file
from nspca.data.export import frame_to_csv, neutralise
from nspca.data.layout import Layout
from nspca.data.originals import adopt_copy, fetch_sample, is_stand_in, kept_path, original_path
from nspca.data.preparation import PREPARATIONS, prepare
from nspca.data.reader import read, read_layout
from nspca.data.samples import is_at_hand, load_sample
from nspca.data.suggestions import covariance_suggestion, features_in_rows_suggestion, scaling_suggestion
from nspca.data.texts import read_text

__all__ = [
    "PREPARATIONS",
    "SAMPLES",
    "Dataset",
    "Layout",
    "Original",
    "Sample",
    "adopt_copy",
    "annotate",
    "covariance_suggestion",
    "example_file",
    "features_in_rows_suggestion",
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
