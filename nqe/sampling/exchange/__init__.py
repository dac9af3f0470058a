"""Query sets of others, in and out: the published NQE JSON, and Query2Box's and BetaE's pickles."""

from nqe.sampling.exchange.nested import read_nested, with_missing_links
from nqe.sampling.exchange.nested_writing import write_nested
from nqe.sampling.exchange.published import read_published, write_published

__all__ = [
    "read_nested",
    "read_published",
    "with_missing_links",
    "write_nested",
    "write_published",
]
