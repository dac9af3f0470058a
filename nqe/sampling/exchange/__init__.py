"""Query sets of others, in and out: the published NQE JSON, and Query2Box's and BetaE's pickles."""

from nqe.sampling.exchange.betae_writer import write_nested
from nqe.sampling.exchange.nqe_json import read_published, write_published
from nqe.sampling.exchange.tuple_queries import read_nested, with_missing_links

__all__ = [
    "read_nested",
    "read_published",
    "with_missing_links",
    "write_nested",
    "write_published",
]
