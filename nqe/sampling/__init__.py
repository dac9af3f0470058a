"""Sampling queries from a graph: walks, answers, query sets."""

from nqe.sampling.presets import PRESETS, preset
from nqe.sampling.sampler import QuerySet, sample
from nqe.sampling.storage import load_queries, read_queries, save_queries
from nqe.sampling.table import QueryTable
from nqe.sampling.walk import Walker

__all__ = [
    "PRESETS",
    "QuerySet",
    "QueryTable",
    "Walker",
    "load_queries",
    "preset",
    "read_queries",
    "sample",
    "save_queries",
]
