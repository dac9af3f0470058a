"""How the threads of PyTorch wait: set up before it is imported, and only if the user has not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nqe import threads
from nqe.threads import CHOICES, WAITING, let_threads_sleep


@pytest.fixture
def before_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has not imported PyTorch, in which the user has chosen nothing."""
    environment = {name: value for name, value in os.environ.items() if name not in CHOICES}
    monkeypatch.setattr(threads.os, "environ", environment)
    monkeypatch.delitem(sys.modules, "torch", raising=False)


def chosen() -> dict[str, str]:
    return {name: os.environ[name] for name in CHOICES if name in os.environ}


@pytest.mark.usefixtures("before_torch")
def test_threads_sleep_soon_with_either_kind_of_openmp() -> None:
    let_threads_sleep()
    assert chosen() == WAITING
    let_threads_sleep()
    assert chosen() == WAITING


@pytest.mark.usefixtures("before_torch")
@pytest.mark.parametrize("name", CHOICES)
def test_what_the_user_has_chosen_stays_as_it_is(name: str) -> None:
    os.environ[name] = "7"
    let_threads_sleep()
    assert chosen() == {name: "7"}


@pytest.mark.usefixtures("before_torch")
def test_nothing_changes_once_pytorch_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", threads)
    let_threads_sleep()
    assert chosen() == {}


# Ends the process at the first import of PyTorch, which would take seconds, and prints the choice.
SCRIPT = """
import os, sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(os.environ.get("GOMP_SPINCOUNT"), flush=True)
            os._exit(0)
sys.meta_path.insert(0, Stop())
import nqe
print(os.environ.get("GOMP_SPINCOUNT"))
{}
"""


@pytest.mark.parametrize(
    "loads",
    [
        "nqe.train",
        "from nqe import EmbeddingRunner",
        "from nqe.training import fit_weights",
        "from nqe.answering import calibrate",
        "sys.argv = ['nqe', 'train', 'atlas', '-o', 'run']; from nqe.cli import main; main()",
    ],
)
def test_it_is_set_up_before_pytorch_is_imported_and_not_by_importing_nqe(loads: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in CHOICES}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(loads)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.split() == ["None", WAITING["GOMP_SPINCOUNT"]], done.stderr


def test_reading_a_graph_changes_no_environment() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in CHOICES}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format("nqe.read; nqe.parse")],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.split() == ["None"]
