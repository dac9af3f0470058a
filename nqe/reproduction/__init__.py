"""The tables of the paper and of the field: rows as settings, runs, results and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nqe.lazy_names import load_on_use

if TYPE_CHECKING:
    from nqe.reproduction.experiment import Experiment, reproduce
    from nqe.reproduction.link_prediction import LINK_ROWS, LinkExperiment, reproduce_links
    from nqe.reproduction.presets import PRESETS, Preset
    from nqe.reproduction.query2box import Query2Box, Query2BoxExperiment, reproduce_query2box
    from nqe.reproduction.report_files import write_files
    from nqe.reproduction.results import Result, load_results
    from nqe.reproduction.rows import ROWS, Row

# Most of them need PyTorch, so each name is imported when it is first used.
_HOMES = {
    "Experiment": "nqe.reproduction.experiment",
    "LINK_ROWS": "nqe.reproduction.link_prediction",
    "LinkExperiment": "nqe.reproduction.link_prediction",
    "PRESETS": "nqe.reproduction.presets",
    "Preset": "nqe.reproduction.presets",
    "Query2Box": "nqe.reproduction.query2box",
    "Query2BoxExperiment": "nqe.reproduction.query2box",
    "ROWS": "nqe.reproduction.rows",
    "Result": "nqe.reproduction.results",
    "Row": "nqe.reproduction.rows",
    "load_results": "nqe.reproduction.results",
    "reproduce": "nqe.reproduction.experiment",
    "reproduce_links": "nqe.reproduction.link_prediction",
    "reproduce_query2box": "nqe.reproduction.query2box",
    "write_files": "nqe.reproduction.report_files",
}

__all__ = [
    "LINK_ROWS",
    "PRESETS",
    "ROWS",
    "Experiment",
    "LinkExperiment",
    "Preset",
    "Query2Box",
    "Query2BoxExperiment",
    "Result",
    "Row",
    "load_results",
    "reproduce",
    "reproduce_links",
    "reproduce_query2box",
    "write_files",
]


__getattr__ = load_on_use(__name__, _HOMES)
