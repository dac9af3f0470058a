"""Reading graphs from files: one file per format, each yielding facts, labels and bad lines."""

from nqe.readers.bad_lines import BadLines
from nqe.readers.columns import Columns
from nqe.readers.formats import FORMATS
from nqe.readers.left_out import LeftOut
from nqe.readers.literal_policy import LiteralPolicy
from nqe.readers.read_dataset import read, read_labels
from nqe.readers.records import BadLine, DescribedId, Record, Records, Skipped
from nqe.readers.sparql_source import EndpointQuery
from nqe.readers.typed_values import LiteralType
from nqe.readers.wikidata_policy import WikidataPolicy

__all__ = [
    "FORMATS",
    "BadLine",
    "BadLines",
    "Columns",
    "DescribedId",
    "EndpointQuery",
    "LeftOut",
    "LiteralPolicy",
    "LiteralType",
    "Record",
    "Records",
    "Skipped",
    "WikidataPolicy",
    "read",
    "read_labels",
]
