"""Progress lines: what they tell, and that it fits into a terminal of 80 columns."""

from __future__ import annotations

import io
import re
import time

from rich.console import Console

from nqe.cli.progress import AnsweringProgress, TrainingProgress
from nqe.training import Report


def line_of(watch: TrainingProgress | AnsweringProgress) -> str:
    """The line as it would be shown."""
    output = io.StringIO()
    progress = watch._progress
    Console(width=80, file=output).print(progress.make_tasks_table(progress.tasks))
    return output.getvalue()


def test_a_training_tells_epoch_loss_best_rate_and_time_left() -> None:
    watch = TrainingProgress()
    for step in range(4):
        watch.update(Report(12_345 + step, 0.1 + step / 1_000, 12, 3456.0, 5.123, 0.4278))
        time.sleep(0.01)
    line = line_of(watch)
    assert line.startswith("epoch 13, loss 5.123, best MRR 0.428 ")
    assert re.search(r" 10% 3,456 queries/s \d:\d\d:\d\d\n$", line)


def test_a_batch_of_queries_tells_how_many_are_answered() -> None:
    watch = AnsweringProgress()
    watch.start(200)
    watch.update(50)
    assert re.match(r"answering .* 25% 50 queries, [\d,]+/s ", line_of(watch))
