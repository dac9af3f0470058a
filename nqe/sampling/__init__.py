"""Sampling queries from a graph: random walks, answers, query sets and their files."""

from nqe.sampling.presets import PRESETS, choose_preset
from nqe.sampling.query_table import QueryTable
from nqe.sampling.random_walk import Walker
from nqe.sampling.sampler import QuerySet, sample
from nqe.sampling.storage import load_queries, read_queries, save_queries

__all__ = [
    "PRESETS",
    "QuerySet",
    "QueryTable",
    "Walker",
    "choose_preset",
    "load_queries",
    "read_queries",
    "sample",
    "save_queries",
]
