"""Reading graphs from files and writing them: one file a format."""

from nqe.readers.formats import FORMATS
from nqe.readers.labels import read_labels
from nqe.readers.lines import Bad, BadLines
from nqe.readers.reading import read
from nqe.readers.table import Columns
from nqe.readers.writers import write

__all__ = ["FORMATS", "Bad", "BadLines", "Columns", "read", "read_labels", "write"]
