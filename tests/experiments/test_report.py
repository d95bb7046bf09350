"""Summaries over repeats and splits, and the comparison with the paper."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mvref.experiments import ITEMS, compare, read_paper_numbers, significance, summarize
from mvref.experiments.claims import CLAIMS
from mvref.experiments.comparison import printed_cells
from mvref.experiments.engine import COLUMNS


def write(folder, rows, paper="mvl_svm"):
    """Write a ledger from (item, dataset, method, parameter, measure, repeat, value)."""
    names = ["item", "dataset", "method", "parameter", "measure", "repeat", "value"]
    table = pd.DataFrame(rows, columns=names).assign(paper=paper, seed=0, seconds=1.0)
    table[["mvref", "python", "numpy", "scipy", "sklearn", "code"]] = "1.0"
    table["parameter"] = table["parameter"].map(json.dumps)
    table[COLUMNS].to_csv(folder / f"{paper}.csv", index=False)


def curve(item, method, name, xs, ys, *, dataset="uwave", measure="accuracy", repeat=0):
    return [
        (item, dataset, method, {name: x}, measure, repeat, y) for x, y in zip(xs, ys, strict=True)
    ]


def test_mean_spread_and_interval_over_repeats(tmp_path):
    values = [0.90, 0.92, 0.97]
    write(
        tmp_path,
        [("fig2", "uwave", "MVLSVM", {"L": 10}, "accuracy", r, v) for r, v in enumerate(values)]
        + [("fig2", "uwave", "MVLSVM", {"L": 10}, "C", r, 1.0) for r in range(3)]
        + [("fig2", "uwave", "PerViewSVM", {}, "accuracy", 0, 0.8)]
        + [("fig5", "uwave", "MVLSVM", {"L": 10}, "accuracy", 0, 0.1)],
    )
    summary = summarize("mvl_svm.fig2", tmp_path).set_index("method")
    assert len(summary) == 2, "C is a setting; another item's rows stay out"
    ours = summary.loc["MVLSVM"]
    assert (ours["n"], ours["L"]) == (3, 10)
    assert ours["mean"] == pytest.approx(np.mean(values))
    assert ours["std"] == pytest.approx(np.std(values, ddof=1))
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert (ours["low"], ours["high"]) == (pytest.approx(low), pytest.approx(high))
    single = summary.loc["PerViewSVM"]
    assert single["n"] == 1
    assert single["mean"] == 0.8
    assert single[["std", "low", "high", "L"]].isna().all()


def test_splits_are_averaged_before_repeats(tmp_path):
    accuracy = np.array([[0.5, 0.6, 0.7], [0.6, 0.7, 0.8]])
    rows = [
        ("fig2", "flower17", "MVLSVM", {"L": 10, "split": s + 1}, "accuracy", r, accuracy[r, s])
        for r in range(2)
        for s in range(3)
    ]
    unfinished = ("fig2", "flower17", "MVLSVM", {"L": 10, "split": 1}, "accuracy", 2, 0.0)
    without_splits = curve("fig2", "MVLSVM", "L", [10], [0.9])
    write(tmp_path, [*rows, unfinished, *without_splits])
    summary = summarize("mvl_svm.fig2", tmp_path).set_index("dataset")
    flower = summary.loc["flower17"]
    assert flower["n"] == 2
    assert flower["mean"] == pytest.approx(0.65)
    assert flower["std"] == pytest.approx(np.std([0.6, 0.7], ddof=1))
    assert summary.loc["uwave", "mean"] == 0.9


def test_figure_4_joins_figures_2_and_3(tmp_path):
    write(
        tmp_path,
        curve("fig2", "MVLSVM", "L", [10, 50], [0.8, 0.9])
        + curve("fig3", "MVLSVM", "L", [10, 50], [0.1, 0.4], measure="train_seconds")
        + [("fig2", "uwave", "PerViewSVM", {}, "accuracy", 0, 0.7)]
        + [("fig3", "uwave", "PerViewSVM", {}, "train_seconds", 0, 2.0)],
    )
    points = summarize("mvl_svm.fig4", tmp_path).set_index("accuracy")["train_seconds"]
    assert points.to_dict() == {0.8: 0.1, 0.9: 0.4, 0.7: 2.0}


def test_comparison_shows_our_value_the_papers_the_place_and_a_reason(tmp_path):
    write(tmp_path, curve("fig2", "MVLSVM", "L", [10, 50, 200], [0.91, 0.96, 0.95]))
    text = " ".join(compare("mvl_svm.fig2", tmp_path).split())
    assert "landmarks_at_best (MVLSVM of uwave): paper 10 (section 6.2); ours" in text
    assert "0.9100 at L=10, best 0.9600 at L=50" in text
    assert "Why it may differ" in text


def test_claims_are_computed_from_our_rows(tmp_path):
    falling = [0.8, 0.79, 0.78, 0.6, 0.59]
    write(
        tmp_path,
        curve("fig3", "MVLSVM", "L", [10, 100, 1000], [0.02, 0.2, 2.0], measure="train_seconds")
        + curve(
            "fig5", "PerViewSVM+Laplacian", "missing", [0.0, 0.1, 0.2, 0.3, 0.4], falling,
            dataset="flower17-recomputed",
        ),
    )  # fmt: skip
    assert "ours 1.00 on uwave" in " ".join(compare("mvl_svm.fig3", tmp_path).split())
    assert "ours 0.2 (the step after it costs 0.180)" in " ".join(
        compare("mvl_svm.fig5", tmp_path).split()
    )


@pytest.mark.parametrize("item", ITEMS)
def test_an_empty_ledger_compares_too(item, tmp_path):
    assert f"none yet: python -m mvref run {item}" in compare(item, tmp_path)
    assert summarize(item, tmp_path).empty


@pytest.mark.parametrize("paper", CLAIMS)
def test_every_number_of_the_paper_has_its_place(paper):
    numbers = read_paper_numbers(paper)
    assert len(numbers) > (5 if paper == "mvm" else 20), "that paper has words only"
    assert np.isfinite(numbers["value"]).all()
    assert numbers["place"].str.match("section [0-9A-Z]|(caption of )?Table [0-9]").all()
    items = {item.name for item in ITEMS.values() if item.paper == paper}
    assert set(numbers["item"]) <= {"data", "protocol"} | items
    assert not numbers.duplicated(["item", "dataset", "method", "parameter", "measure"]).any()
    cells = printed_cells(numbers)
    parts = {
        f"{measure}{part}" for measure in cells["measure"] for part in ("", "_std", "_arrow", "_p")
    }
    of_items = numbers[numbers["item"].isin(items)]
    assert set(of_items["measure"]) - parts <= set(CLAIMS[paper])


def test_the_printed_table_is_whole_and_its_bold_numbers_are_largest():
    cells = printed_cells(read_paper_numbers("mwmvc2"))
    assert len(cells) == 8 * 3 * 2
    assert cells.groupby(["dataset", "measure"]).size().eq(8).all()
    assert cells["value"].between(0.3, 0.9).all()
    assert cells["std"].between(0.005, 0.04).all()
    best = cells.loc[cells.groupby(["dataset", "measure"])["value"].idxmax()]
    assert set(best["method"]) == {"MwMvC2"}
    assert not best["arrow"].any()
    assert (cells["arrow"] == 0).sum() == 6 + 2, "two cells of rivals have no arrow"
    means = cells.pivot(index=["dataset", "measure"], columns="method", values="value")
    gains = 100 * (means["MwMvC2"] / means.drop(columns="MwMvC2").max(axis=1) - 1)
    of_measure = gains.groupby("measure").agg(["min", "max"]).round(2)
    assert of_measure.loc["accuracy"].tolist() == [0.27, 2.23]
    assert of_measure.loc["f1"].tolist() == [2.96, 3.82]


def votes(method, values, *, item="table1", dataset="mnist1", measure="accuracy", m=100):
    return [(item, dataset, method, {"m": m}, measure, r, v) for r, v in enumerate(values)]


def test_our_cells_stand_beside_the_papers(tmp_path):
    ours = [0.86, 0.87, 0.85]
    write(
        tmp_path,
        votes("MwMvC2", ours)
        + votes("MwMvC2-paper", [0.75, 0.74, 0.76])
        + votes("MVMV", [0.84, 0.85, 0.86], dataset="mnist2-shift3")
        + votes("Mumbo", [0.8, 0.81, 0.82])
        + votes("Mono", [0.9, 0.91, 0.92], dataset="digits"),
        paper="mwmvc2",
    )
    lines = [line.split() for line in compare("mwmvc2.table1", tmp_path).splitlines()]
    [line] = [words for words in lines if words[:2] == ["mnist1", "MwMvC2"] and "0.86" in words[3]]
    low, high = stats.t.interval(0.95, 2, np.mean(ours), stats.sem(ours))
    assert line[2:6] == ["3", "0.8600", f"{low:.4f}", f"{high:.4f}"]
    assert line[6:] == ["0.8659", "+-", "0.011", "-0.0059", "best", "best"]
    [line] = [words for words in lines if words[:2] == ["mnist1", "MwMvC2-paper"]]
    assert line[6:10] == ["0.8659", "+-", "0.011", "-0.1159"], "a variant is compared too"
    [line] = [words for words in lines if words[:2] == ["mnist2-shift3", "MVMV"]]
    assert line[6:11] == ["0.8380", "+-", "0.010", "v", "+0.0120"]
    [line] = [words for words in lines if words[:2] == ["mnist1", "Mumbo"]]
    assert "+-" not in line, "the paper has no such method"
    [line] = [words for words in lines if words[:2] == ["digits", "Mono"]]
    assert "+-" not in line, "the paper has no such data"
    of_mono = [words for words in lines if words[:2] == ["mnist1", "Mono"]]
    assert [words[2:5] for words in of_mono] == [["0", "not", "yet"]] * 2, "accuracy and F1"


def test_significance_is_scipys_on_the_repeats(tmp_path):
    rng = np.random.default_rng(0)
    best, close, far = (rng.normal(mean, 0.02, size=20) for mean in (0.85, 0.845, 0.80))
    rows = votes("MwMvC2", best) + votes("MVMV", close) + votes("Mono", far)
    write(tmp_path, rows[:-1] + votes("Mono", best, m=20), paper="mwmvc2")  # Mono lacks one repeat
    tests = significance("mwmvc2.table1", tmp_path).query("m == 100").set_index("method")
    assert (tests["best"] == "MwMvC2").all()
    assert tests.loc["MwMvC2", ["p_rank_sum", "p_signed_rank"]].isna().all()
    assert tests["n"].to_dict() == {"MwMvC2": 20, "MVMV": 20, "Mono": 19}
    for method, values in (("MVMV", close), ("Mono", far[:-1])):
        p_sum, p_signed = tests.loc[method, ["p_rank_sum", "p_signed_rank"]]
        assert p_sum == pytest.approx(stats.ranksums(values, best).pvalue)
        paired = stats.wilcoxon(values, best[: len(values)])
        assert p_signed == pytest.approx(paired.pvalue)
    alone = significance("mwmvc2.table1", tmp_path).query("m == 20")
    assert alone["best"].tolist() == ["Mono"], "methods compete at their own parameter point"


def test_pairs_decide_where_the_repeats_differ_more_than_the_methods(tmp_path):
    of_repeat = np.linspace(0.6, 0.9, 20)
    write(tmp_path, votes("MVMV", of_repeat) + votes("Mono", of_repeat - 0.001), paper="mwmvc2")
    [test] = significance("mwmvc2.table1", tmp_path).query("method == 'Mono'").itertuples()
    assert test.p_rank_sum > 0.5
    assert test.p_signed_rank < 1e-4
    write(tmp_path, votes("MVMV", of_repeat) + votes("Mono", of_repeat), paper="mwmvc2")
    equal = significance("mwmvc2.table1", tmp_path)
    assert equal["p_signed_rank"].dropna().tolist() == [1.0]


def test_the_gain_is_over_the_best_rival_not_over_a_variant(tmp_path):
    write(
        tmp_path,
        votes("MwMvC2", [0.88, 0.88])
        + votes("MwMvC2-random", [0.9, 0.9])
        + votes("MVMV", [0.8, 0.8])
        + votes("Mono", [0.7, 0.7])
        + votes("MwMvC2", [0.72, 0.72], dataset="digits")
        + votes("MVMV", [0.75, 0.75], dataset="digits"),
        paper="mwmvc2",
    )
    text = " ".join(compare("mwmvc2.table1", tmp_path).split())
    assert "gain_max_accuracy (MwMvC2): paper 2.2 (section 4.3); ours 10.00 on mnist1" in text
    assert "gain_min_accuracy (MwMvC2): paper 0.2 (section 4.3); ours -4.00 on digits" in text


def test_steps_that_rise_are_counted_along_each_curve(tmp_path):
    write(
        tmp_path,
        curve("fig2", "MVMV", "m", [20, 50, 100], [0.7, 0.8, 0.9])
        + curve("fig2", "Mono", "m", [100, 20], [0.6, 0.7]),
        paper="mwmvc2",
    )
    text = " ".join(compare("mwmvc2.fig2", tmp_path).split())
    assert "rising_steps (all): paper 1 (section 4.3); ours 0.667 of 3" in text


def test_the_best_number_of_updates_is_that_of_the_paper_s_trees(tmp_path):
    accuracy = {("trees", 1): 0.8, ("trees", 2): 0.7, ("random_trees", 5): 0.9}
    rows = [
        ("readings", "mnist1", "MwMvC2", {"voters": v, "max_iter": T}, "accuracy", r, y)
        for (v, T), y in accuracy.items()
        for r in range(2)
    ]
    write(tmp_path, rows, paper="mwmvc2")
    text = " ".join(compare("mwmvc2.readings", tmp_path).split())
    assert "best_updates (all): paper 2 (section 4.2); ours 1 for MwMvC2 on mnist1 (0.8000)" in text
