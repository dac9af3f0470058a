"""Writing graphs for other tools: statements, tables and RDF, one file per format."""

from nqe.writers.write_graph import write

__all__ = ["write"]
