"""What differs between the paper's protocol and ours, to be stated above each table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nqe.evaluation.published_results import BENCHMARKS
from nqe.reproduction.presets import PRESETS
from nqe.reproduction.results import Result
from nqe.reproduction.runs import describe_budget
from nqe.settings import RunSettings

PAPER_GRAPH = "WD50K"
PAPER_MODEL = "width 256, 16 layers, 8 heads, feed-forward width 512, score q·x, batch 256"


def describe_protocol(benchmark: str, results: Sequence[Result]) -> list[str]:
    """The differences, one sentence or a few about each; general ones alone without results."""
    if benchmark not in BENCHMARKS:
        return []
    return [*_describe_own(results), *_GENERAL]


_OTHER_GRAPH = (
    f" The paper's is {PAPER_GRAPH}, so its numbers and ours cannot be compared, only the order of "
    "rows and the differences between them."
)
_GENERAL = (
    "**Queries.** The paper's query files cannot be fetched. Ours are sampled by the same method, "
    "and most one-hop queries that exist are among the training queries.",
    "**Answers.** The paper's released evaluation ranks the answers that its files mark as easy: "
    "those that the known facts give. Ours ranks the hard ones, which need a missing fact, and "
    "the easy ones for comparison. Easy answers are not ranked where known facts are looked up.",
    "**Ranks.** Filtered, with the mean rank among equal scores, the mean over the answers of a "
    "query and then over queries. The paper does not say how it ranks equal scores.",
    "**Averages.** Plain means over shapes. The averages that the paper prints are not the means "
    "of its rows, so they are not shown.",
    "**StarQE** is our own model after the description of the original.",
)


def _describe_own(results: Sequence[Result]) -> Iterator[str]:
    """What these results were made from."""
    if not results:
        return
    first = results[0]
    graph, facts = first.graph.name, first.graph.facts
    sizes = ", ".join(f"{name} {count:,}" for name, count in facts.items())
    yield f"**Graph.** {graph} ({sizes} facts).{'' if _is_of_paper(first) else _OTHER_GRAPH}"
    preset = PRESETS.get(first.preset)
    if preset is not None and first.benchmark in preset.counts:
        counts = preset.counts[first.benchmark]
        yield (
            f"**Sizes.** At most {counts.train:,} training queries per shape and "
            f"{counts.one_hop:,} of 1p; {counts.valid:,} validation and {counts.test:,} test "
            "queries per shape."
        )
    yield (
        f"**Model and training.** {_describe_settings(first.settings)}; the paper has "
        f"{PAPER_MODEL}, and does not say how long it trained. All rows have the same settings "
        "but for what the row changes. The checkpoint with the best validation MRR is ranked."
    )


def _is_of_paper(result: Result) -> bool:
    """Whether the graph has as many training facts as the paper's."""
    return result.graph.facts.get("train") == PRESETS["full"].train_facts


def _describe_settings(settings: RunSettings) -> str:
    model, train = settings.model, settings.train
    return (
        f"Width {model.width}, {model.layers} layers, {model.heads} heads, feed-forward width "
        f"{model.feed_forward}, score {model.score}, batch {train.batch}, {train.loss} softmax, "
        f"{describe_budget(settings)} per row"
    )
