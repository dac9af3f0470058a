"""Settings of sampling, models, training and serving: frozen, and the only home of defaults."""

from nqe.settings.model import HETEROGENEITIES, ModelSettings
from nqe.settings.run import (
    RunSettings,
    build_run_settings,
    change_section,
    parse_assignment,
    read_settings,
)
from nqe.settings.sampling import BALANCES, DRAWS, MATCHES, SLOTS, SamplingSettings
from nqe.settings.serving import ServingSettings
from nqe.settings.training import (
    BATCHINGS,
    DECAYS,
    DEVICES,
    LOSSES,
    MAX_WORKERS,
    OPTIMIZERS,
    TARGETS,
    TrainSettings,
)
from nqe.settings.values import split_list, to_json

__all__ = [
    "BALANCES",
    "BATCHINGS",
    "DECAYS",
    "DEVICES",
    "DRAWS",
    "HETEROGENEITIES",
    "LOSSES",
    "MATCHES",
    "MAX_WORKERS",
    "OPTIMIZERS",
    "SLOTS",
    "TARGETS",
    "ModelSettings",
    "RunSettings",
    "SamplingSettings",
    "ServingSettings",
    "TrainSettings",
    "build_run_settings",
    "change_section",
    "parse_assignment",
    "read_settings",
    "split_list",
    "to_json",
]
