"""Fixtures for tests of evaluation: a query set of atlas, and models with random scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from random_models import ATLAS, SHAPES, load_random_model

from nqe.answering import OpenedRun
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings


@pytest.fixture(scope="session")
def random_queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small query set of the atlas graph."""
    folder = tmp_path_factory.mktemp("evaluated") / "atlas.queries"
    settings = SamplingSettings(shapes=SHAPES, train=3, valid=4, test=6)
    save_queries(sample(ATLAS, settings, workers=1), folder, "atlas")
    return folder


@pytest.fixture
def random_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every folder be a run of a model with random scores."""
    monkeypatch.setattr(OpenedRun, "load", load_random_model)
