"""Progress lines: what they show, and that they fit into a terminal of 80 columns."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

from nqe.cli import progress
from nqe.cli.progress import ProgressBar, TrainingBar
from nqe.training import TrainingStatus, Validation


def line_of(bar: TrainingBar | ProgressBar) -> str:
    """The line as it would be shown."""
    output = io.StringIO()
    progress = bar._progress
    Console(width=80, file=output).print(progress.make_tasks_table(progress.tasks))
    return output.getvalue()


def test_training_shows_epoch_loss_best_rate_and_time_left() -> None:
    bar = TrainingBar()
    for step in range(4):
        bar.update(TrainingStatus(12_345 + step, 0.1 + step / 1_000, 12, 3456.0, 5.123, 0.4278))
        time.sleep(0.01)
    line = line_of(bar)
    assert line.startswith("epoch 13, loss 5.123, best MRR 0.428 ")
    assert re.search(r" 10% 3,456 queries/s \d:\d\d:\d\d\n$", line)


def test_a_batch_of_queries_shows_how_many_are_answered() -> None:
    bar = ProgressBar("queries")
    bar.start("answering", 200)
    bar.update(50, 50)
    assert re.match(r"answering .* 25% 50 queries, [\d,]+/s ", line_of(bar))


def test_a_log_gets_a_plain_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    bar = ProgressBar("queries")
    bar.start("answering", 200)
    for done in range(0, 130, 10):
        now[0] += 4
        bar.update(done, done)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["answering: 35%"]
    assert re.fullmatch(r"answering: 35%, 70 queries, [\d,]+/s(, \d+:\d\d:\d\d left)?", lines[0])


def test_training_writes_steps_and_validations_into_a_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with TrainingBar() as bar:
        bar.note_validation(Validation(0, 0.1, {"1p": 0.1}))
        for step in range(10):
            now[0] += 4
            bar.update(TrainingStatus(1_230 + step, step / 10, 2, 3456.0, 5.123, 0.4278))
        bar.note_validation(Validation(1_240, 0.31254, {"1p": 0.4, "2in": 0.22508}))
        bar.note_validation(Validation(1_250, 0.5, {"1p": 0.5}))
    text = capsys.readouterr().err
    assert not set("\r\x1b") & set(text)
    step, several, one = text.splitlines()
    assert re.fullmatch(
        r"step 1,237, epoch 3, loss 5\.123, best MRR 0\.428: 70%, 3,456 queries/s"
        r"(, \d:\d\d:\d\d left)?",
        step,
    )
    assert several == "step 1,240: validation MRR 0.3125 (1p 0.400, 2in 0.225)"
    assert one == "step 1,250: validation MRR 0.5000"
