"""The settings of a run: those of its model and of its training, from TOML files and --set."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from nqe.errors import NqeError
from nqe.settings.model import ModelSettings
from nqe.settings.training import TrainSettings
from nqe.settings.values import convert, to_json

MAX_FILE = 1_000_000
"""The most bytes that a file of settings may have."""


@dataclass(frozen=True)
class RunSettings:
    """Everything that determines a run, besides its data set."""

    model: ModelSettings = field(default_factory=ModelSettings)
    train: TrainSettings = field(default_factory=TrainSettings)

    def __post_init__(self) -> None:
        if self.train.relation_share and not self.model.predict_relations:
            # What asks for relations in training needs a model that predicts them.
            object.__setattr__(self, "model", replace(self.model, predict_relations=True))

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON data, by section."""
        return {"model": to_json(self.model), "train": to_json(self.train)}

    def to_toml(self) -> str:
        """The settings as a file that `nqe train -c` reads."""
        return "\n".join(
            f"[{section}]\n"
            + "".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items() if v is not None)
            for section, values in self.to_json().items()
        )


def build_run_settings(
    given: Mapping[str, Mapping[str, Any]], where: str = "settings", base: RunSettings | None = None
) -> RunSettings:
    """Settings with some values given by section and name; all others are those of `base`.

    `where` says in error messages where the values come from.
    """
    settings = base or RunSettings()
    sections = [section.name for section in fields(RunSettings)]
    changed: dict[str, Any] = {}
    for section, values in given.items():
        if section not in sections:
            raise NqeError(
                f"{where}: unknown section '{section}'; choose one of {', '.join(sections)}"
            )
        changed[section] = change_section(getattr(settings, section), section, values, where)
    return replace(settings, **changed)


def change_section(settings: Any, section: str, given: Any, where: str) -> Any:
    """One section of settings with some values changed."""
    if not isinstance(given, Mapping):
        raise NqeError(f"{where}: {section} is a section, not a value; write [{section}] above it")
    types = {setting.name: str(setting.type) for setting in fields(settings)}
    for name in given:
        if name not in types:
            near = get_close_matches(name, types, n=1)
            hint = f"did you mean {section}.{near[0]}?" if near else f"see `{section}` in the docs"
            raise NqeError(f"{where}: unknown setting '{section}.{name}'; {hint}")
    values = {
        name: convert(f"{section}.{name}", value, types[name], where)
        for name, value in given.items()
    }
    return replace(settings, **values)


def read_settings(path: str | Path, base: RunSettings | None = None) -> RunSettings:
    """The settings of a TOML file with the sections [model] and [train]."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_FILE + 1)
        if len(content) > MAX_FILE:
            raise NqeError(f"{path}: more than {MAX_FILE:,} bytes; name a TOML file of settings")
        given = tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError:
        raise NqeError(f"{path}: no such file; name a TOML file of settings") from None
    except (OSError, ValueError, RecursionError) as error:
        raise NqeError(f"{path}: not a TOML file ({error}); see the training guide") from error
    return build_run_settings(given, str(path), base)


def parse_assignment(text: str) -> dict[str, dict[str, Any]]:
    """The setting in `section.name=value`; the value is TOML, in which quotes may be left out."""
    name, equals, value = text.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot and section and key):
        raise NqeError(
            f"--set {text:.100}: no section and value; write section.name=value, as train.rate=1e-3"
        )
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except (ValueError, RecursionError):
        # Not TOML, or a number of thousands of digits; the type of the setting decides.
        parsed = value.strip()
    return {section: {key: parsed}}
