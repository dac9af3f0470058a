"""The names of a data set's splits."""

SPLITS = ("train", "valid", "test")
