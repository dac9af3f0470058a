"""Tables of several seeds beside the published rows, and which orders of rows are claimed."""

from __future__ import annotations

from itertools import product
from statistics import stdev

import pytest
from small_experiments import result_of

from nqe.evaluation.published_results import BENCHMARKS
from nqe.evaluation.result_tables import Sheet
from nqe.reproduction.orders import ORDERS, describe_orders
from nqe.reproduction.results import EASY, HARD
from nqe.reproduction.rows import NFOL, QE, ROWS
from nqe.reproduction.summary import Value, add_averages, sum_up
from nqe.reproduction.tables import (
    build_long_sheet,
    build_shape_sheet,
    build_tables,
    leave_out_not_run,
)

SEEDS = [
    result_of("NQE", {"1p": 0.5, "2in": 0.2}, 0),
    result_of("NQE", {"1p": 0.6, "2in": 0.4}, 1),
    result_of("NQE-1p", {"1p": 0.4, "2in": 0.3}, 0),
    result_of("NQE-1p", {"1p": 0.4, "2in": 0.1}, 1),
]


def row_of(sheet: Sheet, name: str) -> dict[str, object]:
    [row] = [row for row in sheet.rows if row[0] == name]
    return dict(zip(sheet.columns, row, strict=True))


class TestSums:
    def test_a_value_has_the_mean_and_the_standard_deviation_of_its_seeds(self) -> None:
        value = sum_up(SEEDS, HARD)["NQE"]["1p"]
        assert value.mean == pytest.approx(0.55)
        assert value.spread == pytest.approx(stdev([0.5, 0.6]))
        assert str(value) == "55.00 ± 7.07"

    def test_one_seed_has_no_spread(self) -> None:
        assert str(Value({0: 0.5})) == "50.00"

    def test_a_mean_over_shapes_is_taken_seed_by_seed(self) -> None:
        values = add_averages(sum_up(SEEDS, HARD)["NQE"], ["1p", "2in"])
        assert values["AVG_p"].by_seed == {0: 0.5, 1: 0.6}
        assert values["AVG_n"].by_seed == {0: 0.2, 1: 0.4}

    def test_a_shape_that_a_seed_lacks_is_left_out(self) -> None:
        results = [SEEDS[0], result_of("NQE", {"1p": 0.6}, 1)]
        assert list(sum_up(results, HARD)["NQE"]) == ["1p"]


class TestShapeTable:
    def test_each_row_stands_below_the_papers(self) -> None:
        sheet = build_shape_sheet(NFOL, SEEDS, HARD)
        names = [row[0] for row in sheet.rows]
        assert names.index("NQE") == names.index("NQE (paper)") + 1
        assert row_of(sheet, "NQE (paper)")["2in"] == BENCHMARKS[NFOL]["NQE"]["2in"]
        assert row_of(sheet, "NQE")["2in"] == "30.00 ± 14.14"

    def test_it_says_what_stands_behind_the_sign(self) -> None:
        title = build_shape_sheet(NFOL, SEEDS, HARD).title
        assert title.endswith("MRR of hard answers, % (mean ± standard deviation of 2 seeds)")
        assert "±" not in build_shape_sheet(NFOL, SEEDS[:1], HARD).title

    def test_a_row_that_was_not_run_says_so(self) -> None:
        sheet = build_shape_sheet(NFOL, SEEDS, HARD)
        assert set(row_of(sheet, "Logic-blind, not run yet").values()) == {
            "Logic-blind, not run yet",
            None,
        }

    def test_rows_that_were_not_run_can_be_left_out(self) -> None:
        sheet = leave_out_not_run(build_shape_sheet(NFOL, SEEDS, HARD))
        names = [row[0] for row in sheet.rows]
        assert [name for name in names if "(paper)" not in str(name)] == ["NQE-1p", "NQE"]
        assert sheet.best == {(names.index("NQE"), column) for column in range(1, 5)}

    def test_without_results_it_has_all_shapes_and_the_published_rows(self) -> None:
        sheet = build_shape_sheet(QE, [], HARD)
        assert sheet.columns == ("row", "1p", "2p", "3p", "2i", "3i", "pi", "ip", "AVG_p")
        assert row_of(sheet, "StarQE (paper)")["1p"] == 30.98

    def test_the_best_of_ours_is_marked_and_no_published_value(self) -> None:
        sheet = build_shape_sheet(NFOL, SEEDS, HARD)
        place = [row[0] for row in sheet.rows].index("NQE")
        assert sheet.best == {(place, column) for column in range(1, 5)}

    def test_easy_answers_are_not_shown_where_known_facts_give_them(self) -> None:
        sheet = build_shape_sheet(NFOL, SEEDS, EASY)
        assert not any("hybrid" in str(row[0]) for row in sheet.rows)
        assert row_of(sheet, "NQE")["1p"] == "27.50 ± 3.54"

    @pytest.mark.parametrize(("answers", "count"), [("hard", 1), ("easy", 1), ("both", 2)])
    def test_the_answers_to_show_can_be_chosen(self, answers: str, count: int) -> None:
        titles = [sheet.title for sheet in build_tables(NFOL, SEEDS, answers)]
        assert sum(title.startswith(NFOL) for title in titles) == count


def test_other_tables_have_missing_links_and_how_the_rows_were_computed() -> None:
    *_, missing, runs = build_tables(NFOL, SEEDS)
    assert missing.columns == ("row", "1", "2")
    assert row_of(missing, "NQE") == {"row": "NQE", "1": "50.00 ± 0.00", "2": "25.00 ± 0.00"}
    assert [row[:4] for row in runs.rows] == [
        (name, seed, "1,234", "1.5") for name, seed in product(("NQE-1p", "NQE"), (0, 1))
    ]


def test_csv_has_numbers_for_other_programs() -> None:
    sheet = build_long_sheet(NFOL, SEEDS, (HARD,))
    [row] = [row for row in sheet.rows if row[:3] == ("NQE", "mrr", "1p")]
    assert row[3:] == (2, pytest.approx(55.0), pytest.approx(7.0710678), 55.9)


class TestOrders:
    def test_an_order_is_claimed_if_every_seed_is_above_every_other(self) -> None:
        results = [result_of("NQE", {"1p": value}, seed) for seed, value in enumerate((0.5, 0.6))]
        others = [result_of("NQE-1p", {"1p": 0.4}, 0), result_of("NQE-1p", {"1p": 0.45}, 1)]
        [sentence] = describe_orders([*results, *others])
        assert sentence.startswith(
            "All shapes over one-hop queries alone: NQE 55.00 ± 7.07, NQE-1p"
        )
        assert sentence.endswith("The order holds in all 2 seeds.")

    def test_an_order_is_not_claimed_if_seeds_overlap(self) -> None:
        [sentence] = describe_orders(
            [
                *(result_of("NQE", {"1p": value}, seed) for seed, value in enumerate((0.5, 0.6))),
                *(
                    result_of("NQE-1p", {"1p": value}, seed)
                    for seed, value in enumerate((0.4, 0.55))
                ),
            ]
        )
        assert sentence.endswith("The seeds of NQE and NQE-1p overlap, so no order is claimed.")

    def test_a_reverse_order_is_told(self) -> None:
        [sentence] = describe_orders(
            [
                result_of(row, {"1p": value}, seed)
                for row, value in (("NQE", 0.1), ("NQE-1p", 0.2))
                for seed in (0, 1)
            ]
        )
        assert sentence.endswith("It is the reverse of what was expected, in all 2 seeds.")

    def test_one_seed_claims_no_order(self) -> None:
        [sentence] = describe_orders([SEEDS[0], SEEDS[2]])
        assert sentence.endswith("One seed alone, so no order is claimed.")

    def test_negation_is_judged_on_the_shapes_that_have_it(self) -> None:
        blind = [result_of("Logic-blind", {"1p": 0.9, "2in": 0.05}, seed) for seed in (0, 1)]
        sentences = describe_orders([*SEEDS[:2], *blind])
        [with_negation] = [one for one in sentences if "with negation" in one]
        assert "mean over 1 shapes" in with_negation
        assert with_negation.endswith("The order holds in all 2 seeds.")

    def test_every_expected_order_is_of_rows_that_share_a_benchmark(self) -> None:
        for order in ORDERS:
            shared = set(ROWS[order.better].benchmarks) & set(ROWS[order.worse].benchmarks)
            assert shared, order
