"""Data: every supported file and every sample as one frozen `Dataset`."""

from nspca.data.catalogue import SAMPLES, Original, Sample
from nspca.data.dataset import Dataset, features_in_rows_suggestion
from nspca.data.export import frame_to_csv, neutralise
from nspca.data.look import Look
from nspca.data.originals import adopt_copy, fetch_sample, original_path
from nspca.data.reader import look_at, read
from nspca.data.samples import load_sample

__all__ = [
    "SAMPLES",
    "Dataset",
    "Look",
    "Original",
    "Sample",
    "adopt_copy",
    "features_in_rows_suggestion",
    "fetch_sample",
    "frame_to_csv",
    "load_sample",
    "look_at",
    "neutralise",
    "original_path",
    "read",
]
