"""Sampling queries from a graph."""

from nqe.sampling.walk import Walker

__all__ = ["Walker"]
