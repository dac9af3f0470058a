"""`nqe train`: its example, its errors, full disks and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import Run, files, nqe, start, told, well

from nqe import cli, demo_dataset
from nqe.cli import progress
from nqe.cli.train import watch_steps
from nqe.settings import build_run_settings
from nqe.training import TrainingStatus, forecast

ATLAS = demo_dataset()
MODEL = {"width": 8, "layers": 1, "heads": 2, "feed_forward": 8}
TRAIN = {"shapes": ["1p"], "batch": 64, "steps": 4, "evaluate_steps": 2, "valid_queries": 20}
# Settings of the smallest run; mining rules would take longer than all else.
SMALL = build_run_settings({"model": MODEL, "train": TRAIN | {"rules": False}}).to_toml()
# A model that has learnt from the validation facts is not calibrated.
UNCALIBRATED = ("--set", "train.facts=train,valid")
MORE = ("--set", "train.steps=9")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with settings for the smallest run."""
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and other folders that are not runs."""
    place = tmp_path_factory.mktemp("training")
    (place / "small.toml").write_text(SMALL)
    (place / "mine").mkdir()
    (place / "mine" / "file").touch()
    (place / "other").write_text("a,r,b\nb,r,c\n")
    (place / "bad.toml").write_text("[train]\nshapes = [")
    (place / "model.toml").write_text("[model]\nwidth = 16\n")
    well(nqe("import", "other", "-o", "other.graph", cwd=place))
    (place / "train.txt").write_text("")
    counts = ("--train", "9", "--valid", "3", "--test", "0", "--workers", "1")
    well(nqe("sample", "atlas", "-o", "q", "--shape", "2p", *counts, cwd=place))
    well(nqe("train", "atlas", "-o", "run", "-c", "small.toml", cwd=place))
    return place


@pytest.fixture
def typed(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> object:
    """Runs `nqe` in this process, which has loaded PyTorch already."""
    monkeypatch.chdir(place)

    def typed(*words: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["nqe", *words])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        code = stopped.value.code
        return Run(code if isinstance(code, int) else 0, out, err)

    return typed


NEW = ("train", "atlas", "-o", "new", "-c", "small.toml")
OLD = ("train", "atlas", "-o", "run", "--resume")
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "a run that exists": (
        ("train", "atlas", "-o", "run"),
        "run: a run exists already; continue it with --resume, or choose another name",
    ),
    "a folder with other files": (
        ("train", "atlas", "-o", "mine"),
        "mine: the folder holds other files; choose another name",
    ),
    "a file": (("train", "atlas", "-o", "other"), "other: a file of that name exists; choose"),
    "no such graph": (("train", "nowhere", "-o", "new"), "nowhere: not a graph folder (no such"),
    "no such queries": ((*NEW, "nowhere"), "nowhere: not a query set (no such folder); make one"),
    "queries of another graph": (
        ("train", "other.graph", "q", "-o", "new"),
        "q: sampled from another graph (fingerprint",
    ),
    "an unknown shape": ((*NEW, "--shapes", "1p,9p"), "shape '9p' not understood"),
    "a shape that the queries lack": (
        (*NEW, "q", "--shapes", "2p,3p"),
        "q: no train queries of shape 3p; sample some, or name other shapes",
    ),
    "a shape that the graph lacks": (
        ("train", "other.graph", "-o", "new", "--shapes", "3cp"),
        "no fact has enough slots for the shape 3cp; leave it out",
    ),
    "a missing split": (
        ("train", "other.graph", "-o", "new", "--set", "train.facts=train,valid"),
        "there is no valid split; the data set has train",
    ),
    "no facts": ((*NEW, "--set", "train.facts=none"), "train.facts is 'none', which has no facts;"),
    "an unknown setting": ((*NEW, "--set", "train.rte=1"), "--set train.rte=1: unknown setting"),
    "a wrong setting": ((*NEW, "--set", "train.rate=fast"), "--set train.rate=fast: setting train"),
    "a wrong time": ((*NEW, "--time-budget", "soon"), "--time-budget soon: not a time; write one"),
    "no settings": (("train", "atlas", "-o", "new", "-c", "no.toml"), "no.toml: no such file;"),
    "bad settings": (("train", "atlas", "-o", "new", "-c", "bad.toml"), "bad.toml: not a TOML"),
    "an unknown encoder": ((*NEW, "--set", "model.encoder=x"), "unknown encoder 'x'; choose one"),
    "nothing to resume": (
        ("train", "atlas", "-o", "new", "--resume"),
        "new: no run to continue; leave out --resume to begin one",
    ),
    "nothing to resume, with settings": (
        (*NEW, "--resume"),
        "new: no run to continue; leave out --resume to begin one",
    ),
    "other queries": ((*OLD, "q"), "run: learns from the graph alone, not from q; resume without"),
    "another graph": (
        ("train", "other.graph", "-o", "run", "--resume"),
        "run: trained on another graph (fingerprint",
    ),
    "another model": ((*OLD, "-c", "model.toml"), "run: its model has other settings; resume"),
}


def read_times(place: Path) -> dict[str, int | None]:
    """When each file was last changed, and which folders there are.

    The time of a folder says nothing: a run that is resumed gets a lock file for a moment.
    """
    paths = {name: place / name for name in files(place)}
    return {
        name: path.stat().st_mtime_ns if path.is_file() else None for name, path in paths.items()
    }


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_training_fails_with_one_sentence_and_writes_nothing(
    typed: object, place: Path, words: tuple[str, ...], sentence: str
) -> None:
    before = read_times(place)
    assert callable(typed)
    assert told(typed(*words)).startswith(sentence)
    assert read_times(place) == before


@pytest.mark.long
def test_the_example_in_the_help_works(here: Path) -> None:
    text = well(nqe("train", "--help", cwd=here))
    [line] = [line for line in text.splitlines() if "Example: nqe train" in line]
    words = line.partition("Example: nqe ")[2].replace("20s", "3s").split()
    assert "3s" in words
    run = nqe(*words, "--set", "model.width=16", cwd=here)
    assert re.match(
        r"atlas\.run: [\d,]+ steps in \d\.\d minutes, best validation MRR 0\.", well(run)
    )
    *_, calibrated, model = run.err.splitlines()
    assert re.fullmatch(r"calibrated on valid: .* error 0\.\d+ → 0\.\d+ on test", calibrated)
    assert model == "the model is in atlas.run/best; try `nqe evaluate`"


def test_a_complete_run_says_so_and_continues_if_more_steps_are_wanted(place: Path) -> None:
    done = nqe("train", "atlas", "-o", "run", "--resume", cwd=place)
    assert re.match(r"run: 4 steps in \d\.\d minutes, best validation MRR 0\.", well(done))
    assert done.err.startswith("the run was already complete; to continue, raise train")
    done = nqe("train", "atlas", "-o", "run", "--resume", "--set", "train.steps=6", cwd=place)
    assert well(done).startswith("run: 6 steps")
    assert "complete" not in done.err
    assert "steps = 6\n" in (place / "run" / "settings.toml").read_text()
    assert (
        json.loads((place / "run" / "manifest.json").read_text())["settings"]["train"]["steps"] == 6
    )


def test_a_learning_rate_that_is_far_too_high_is_an_error_in_one_sentence(here: Path) -> None:
    wild = ("--set", "train.rate=1e38", "--set", "train.clip=0", "--set", "train.steps=50")
    sentence = told(nqe("train", "atlas", "-o", "run", "-c", "small.toml", *wild, cwd=here))
    assert re.match(
        r"run: after step \d+ the loss is .*; .*: (continue|begin again) .*with --resume --se",
        sentence,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_saves_and_says_how_to_continue(here: Path, number: signal.Signals) -> None:
    words = ["train", "atlas", "-o", "run", "-c", "small.toml", "--set", "train.steps=100000"]
    with start(*words, cwd=here) as process:
        try:
            wait_for(here / "run" / "best", process)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    found = re.fullmatch(
        r"nqe: run: interrupted and saved at step ([\d,]+); continue with the same command and "
        r"--resume\n",
        err.decode(),
    )
    assert found, err
    state = json.loads((here / "run" / "last" / "state.json").read_text())
    assert f"{state['step']:,}" == found[1]


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)


def limited(kilobytes: int) -> tuple[str, ...]:
    """The words before a command that limit the size of the files it can write."""
    return ("bash", "-c", f'ulimit -f {kilobytes} && exec "$@"', "bash")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        name: (folder / name).read_bytes() for name in files(folder) if (folder / name).is_file()
    }


def test_a_limit_on_file_sizes_is_an_error_in_one_sentence_and_keeps_the_checkpoint(
    here: Path,
) -> None:
    well(nqe("train", "atlas", "-o", "run", "-c", "small.toml", *UNCALIBRATED, cwd=here))
    before = contents(here / "run" / "last")
    for kilobytes in (8, 40, 80):
        run = nqe(*OLD, *MORE, cwd=here, before=limited(kilobytes))
        assert re.match(r"run/.*: cannot be written \(.*\); ", told(run))
        assert contents(here / "run" / "last") == before
        assert not [name for name in files(here) if ".nqe-" in name]
    assert well(nqe(*OLD, *MORE, cwd=here)).startswith("run: 9 steps")


def test_a_full_disk_is_an_error_in_one_sentence_and_keeps_the_checkpoint(here: Path) -> None:
    well(nqe("train", "atlas", "-o", "run", "-c", "small.toml", *UNCALIBRATED, cwd=here))
    size = sum(-(-path.stat().st_size // 4096) + 1 for path in (here / "run").rglob("*"))
    (here / "disk").mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size * 4 + 40}k", "tmpfs", str(here / "disk")]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        subprocess.run(["cp", "-r", "run", "disk/run"], cwd=here, check=True)
        before = contents(here / "disk" / "run" / "last")
        run = nqe("train", "atlas", "-o", "disk/run", "--resume", *MORE, cwd=here)
        assert "cannot be written" in told(run)
        assert contents(here / "disk" / "run" / "last") == before
    finally:
        subprocess.run(["umount", str(here / "disk")], check=True)


def test_a_folder_without_write_permission_is_an_error_in_one_sentence(here: Path) -> None:
    if os.geteuid() == 0:
        target = "/proc/run"
    else:
        (here / "locked").mkdir(mode=0o500)
        target = "locked/run"
    sentence = told(nqe("train", "atlas", "-o", target, "-c", "small.toml", cwd=here))
    assert sentence.startswith(f"{target}: cannot be written (")


def test_a_graph_without_valid_facts_is_told_what_is_lost(here: Path) -> None:
    facts = "".join(f"a{number},r,b{number % 3}\n" for number in range(30))
    well(nqe("import", "-", "-o", "g.graph", cwd=here, given=facts.encode()))
    run = nqe("train", "g.graph", "-o", "run", "-c", "small.toml", cwd=here)
    well(run)
    assert "nqe: note: g.graph has no valid facts, so the best model cannot be chosen" in run.err
    assert "`nqe split g.graph -o NEW --valid 5% --test 5%`" in run.err


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line at every step, and a forecast after the second one."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(forecast, "PACE_SECONDS", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_log_shows_steps_validations_and_how_long_it_will_take(typed: object) -> None:
    assert callable(typed)
    run = typed("train", "atlas", "-o", "logged", "-c", "small.toml")
    well(run)
    *log, _, _ = run.err.splitlines()
    patterns = [
        r"step 1, epoch 1, loss \d+\.\d+: 0%, [\d,]+ queries/s",
        r"this training will be 4 steps \(0\.\d+ epochs\) in about 0:0\d:\d\d, at the speed so far",
        r"step 2, epoch 1, loss \d+\.\d+: 25%, [\d,]+ queries/s.*",
        r"step 2: validation MRR 0\.\d{4}",
        r"step 3, epoch 1, loss \d+\.\d+, best MRR 0\.\d{3}: 50%, [\d,]+ queries/s.*",
        r"step 4, epoch 1, loss \d+\.\d+, best MRR 0\.\d{3}: 75%, [\d,]+ queries/s.*",
        r"step 4: validation MRR 0\.\d{4}",
    ]
    assert len(log) == len(patterns), run.err
    for pattern, line in zip(patterns, log, strict=True):
        assert re.fullmatch(pattern, line)


def test_a_budget_that_is_far_too_short_is_warned_about_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown: list[TrainingStatus] = []
    on_step = watch_steps(shown.append, ATLAS, "atlas")
    short = forecast.Forecast(40, 0.08, 1200.0, has_budget=True)
    statuses = [
        TrainingStatus(step, step / 40, 0, 10.0, 5.0, None, short if step > 1 else None)
        for step in range(1, 5)
    ]
    for status in statuses:
        on_step(status)
    assert shown == statuses
    said, warning = capsys.readouterr().err.splitlines()
    assert said == (
        "this training will be about 40 steps (0.08 epochs) in 0:20:00, at the speed so far"
    )
    assert warning == f"nqe: note: {short.warning}"
