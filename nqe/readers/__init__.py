"""Reading graphs from files: one file per format, each yielding facts, labels and bad lines."""

from nqe.readers.bad_lines import BadLines
from nqe.readers.formats import FORMATS
from nqe.readers.left_out import LeftOut
from nqe.readers.literal_policy import LiteralPolicy
from nqe.readers.read_dataset import read, read_labels
from nqe.readers.records import BadLine, DescribedId, Record, Records, Skipped
from nqe.readers.table import Columns

__all__ = [
    "FORMATS",
    "BadLine",
    "BadLines",
    "Columns",
    "DescribedId",
    "LeftOut",
    "LiteralPolicy",
    "Record",
    "Records",
    "Skipped",
    "read",
    "read_labels",
]
