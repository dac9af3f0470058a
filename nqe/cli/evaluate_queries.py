"""Ranks the queries of a folder for `nqe evaluate`: opens the model, its facts and the runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nqe.answering.open_graph import open_dataset
from nqe.answering.request import EMBEDDING, HYBRID
from nqe.errors import NqeError

if TYPE_CHECKING:
    from nqe.answering import Answerer, OpenedRun
    from nqe.evaluation import Ranking, Runner
    from nqe.evaluation.query_selection import QuerySelection, RowSelection, Selection
    from nqe.graph.dataset import Dataset


def rank_queries(
    model: OpenedRun,
    selection: QuerySelection | RowSelection,
    answers: str,
    mode: str,
    facts: str | None,
    graph: str | None,
) -> tuple[Ranking, dict[str, Any]]:
    """Rank the answers of the selected queries; also return what was evaluated."""
    from nqe.evaluation.query_selection import QuerySelection

    if mode == EMBEDDING and not isinstance(selection, QuerySelection):
        raise NqeError(
            f"{selection.folder}: its queries are no trees, which the mode embedding cannot "
            "answer; leave out --mode, or choose hybrid"
        )
    _check_graph(model, selection, graph)
    if isinstance(selection, QuerySelection):
        ranking, known = _rank_trees(model, selection, answers, mode, facts, graph)
    else:
        ranking, known = _rank_rows(model, selection, answers, facts, graph)
    about = {
        "run": model.place,
        **selection.describe(),
        "trained_on": model.trained_on,
        "mode": mode,
        "facts": known,
    }
    return ranking, about


def _rank_trees(
    model: OpenedRun,
    selection: QuerySelection,
    answers: str,
    mode: str,
    facts: str | None,
    graph: str | None,
) -> tuple[Ranking, str | None]:
    """Rank the answers of trees; also return the names of the splits that are known."""
    from nqe.answering import HybridRunner
    from nqe.cli.progress import ProgressBar
    from nqe.evaluation import evaluate

    table, known = selection.load(), None
    if mode == HYBRID:
        answerer = _open_hybrid(model, selection, facts, graph)
        runner: Runner = HybridRunner(answerer)
        known = answerer.facts
    else:
        runner = _open_embedding(model, selection, graph)
    with ProgressBar("queries") as progress:
        return evaluate(runner, table, answers=answers, progress=progress), known


def _rank_rows(
    model: OpenedRun,
    selection: RowSelection,
    answers: str,
    facts: str | None,
    graph: str | None,
) -> tuple[Ranking, str]:
    """Rank the rows of queries that are no trees, by hybrid."""
    from nqe.answering.question_runner import HybridQuestionRunner
    from nqe.cli.progress import ProgressBar
    from nqe.evaluation import rank_rows

    queries = selection.load()
    answerer = _open_hybrid(model, selection, facts, graph)
    runner, vocabulary = HybridQuestionRunner(answerer), answerer.graph.vocabulary
    with ProgressBar("questions") as progress:
        ranking = rank_rows(runner, queries, vocabulary, answers=answers, progress=progress)
    return ranking, answerer.facts


def _check_graph(model: OpenedRun, selection: Selection, graph: str | None) -> None:
    """Refuse a query set that was sampled from another graph than the model's."""
    queries, manifest = selection.folder, selection.manifest
    model.check_fingerprint(queries, manifest["fingerprint"])
    place = graph or (manifest["dataset"] if model.fingerprint is None else None)
    if place is None and model.fingerprint is None:
        raise NqeError(f"{queries}: does not say where its graph is; name it with --graph")
    if place is not None:
        dataset = open_dataset(place)
        _check_dataset(selection, dataset)
        model.check_vocabulary(place, dataset)


def _open_embedding(model: OpenedRun, selection: Selection, graph: str | None) -> Runner:
    """Open the paper's runner; only a model that uses facts needs the data set."""
    needs_facts = model.model.needs_facts
    return model.open_runner(_open_dataset(model, selection, graph) if needs_facts else None)


def _open_dataset(model: OpenedRun, selection: Selection, graph: str | None) -> Dataset:
    """Open the data set that is named, or the one of the model or the queries."""
    place = graph or (selection.manifest["dataset"] if model.dataset_name is None else None)
    dataset = model.open_dataset(place)
    _check_dataset(selection, dataset)
    return dataset


def _open_hybrid(
    model: OpenedRun, selection: Selection, facts: str | None, graph: str | None
) -> Answerer:
    """Open the model over the known facts, by default those that the split knows."""
    from nqe.answering import Answerer
    from nqe.cli.open_run import note_calibration

    dataset = _open_dataset(model, selection, graph)
    if facts is None:
        facts = dataset.known_splits(selection.split)
    answerer = Answerer(
        dataset, model.model, facts=facts, rules=model.rules, calibration=model.calibration
    )
    note_calibration(model.place, answerer)
    return answerer


def _check_dataset(selection: Selection, dataset: Dataset) -> None:
    """Refuse a data set that the queries were not sampled from."""
    from nqe.sampling.set_checks import check_fits

    check_fits(selection.folder, selection.manifest, dataset, "sample the queries again")
