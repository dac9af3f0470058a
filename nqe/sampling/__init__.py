"""Sampling queries from a graph: random walks, answers, query sets and their files."""

from nqe.sampling.patterns import PATTERNS
from nqe.sampling.presets import PRESETS, choose_preset
from nqe.sampling.query_table import QueryTable
from nqe.sampling.random_walk import Walker
from nqe.sampling.row_query import RowQuery
from nqe.sampling.row_sampler import RowQuerySet, sample_rows
from nqe.sampling.row_storage import load_row_queries, save_row_queries
from nqe.sampling.sampler import QuerySet, sample
from nqe.sampling.storage import load_queries, read_queries, save_queries

__all__ = [
    "PATTERNS",
    "PRESETS",
    "QuerySet",
    "QueryTable",
    "RowQuery",
    "RowQuerySet",
    "Walker",
    "choose_preset",
    "load_queries",
    "load_row_queries",
    "read_queries",
    "sample",
    "sample_rows",
    "save_queries",
    "save_row_queries",
]
