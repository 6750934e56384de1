"""The compare page: several methods on one problem, at several numbers of features."""
