"""Query files of other programs: the NQE paper's JSON, and pickles of Query2Box and BetaE."""

from nqe.sampling.exchange.betae_writer import write_betae
from nqe.sampling.exchange.nqe_json import read_nqe_json, write_nqe_json
from nqe.sampling.exchange.tuple_queries import add_missing_links, read_tuple_queries

__all__ = [
    "add_missing_links",
    "read_nqe_json",
    "read_tuple_queries",
    "write_betae",
    "write_nqe_json",
]
