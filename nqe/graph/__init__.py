"""Graphs of n-ary facts: vocabulary, facts in columns, pattern matching, data sets, storage."""

from nqe.graph.dataset import Dataset
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact import Fact
from nqe.graph.fact_source import FactSource
from nqe.graph.graph import Graph
from nqe.graph.pattern import Pattern
from nqe.graph.splits import SPLITS
from nqe.graph.vocabulary import Description, Names, Vocabulary

__all__ = [
    "SPLITS",
    "Dataset",
    "Description",
    "EntitySet",
    "Fact",
    "FactSource",
    "Graph",
    "Names",
    "Pattern",
    "Vocabulary",
]
