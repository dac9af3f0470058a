"""Reading graphs from files: one file per format."""

from nqe.readers.bad_lines import Bad, BadLines
from nqe.readers.formats import FORMATS
from nqe.readers.labels import read_labels
from nqe.readers.read_dataset import read
from nqe.readers.table import Columns

__all__ = ["FORMATS", "Bad", "BadLines", "Columns", "read", "read_labels"]
