"""Summaries over repeats and splits, and the comparison with the paper."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mvref.experiments import ITEMS, compare, read_paper_numbers, significance, summarize
from mvref.experiments.engine import Ledger
from mvref.experiments.report import printed_cells
from mvref.experiments.reproduction import PAPERS


def write(folder, rows, paper="mvl_svm"):
    """Write a ledger from (item, dataset, method, parameter, measure, repeat, value)."""
    names = ["item", "dataset", "method", "parameter", "measure", "repeat", "value"]
    table = pd.DataFrame(rows, columns=names).assign(paper=paper, seed=0, seconds=1.0)
    table[["mvref", "python", "numpy", "scipy", "sklearn", "code"]] = "1.0"
    table["parameter"] = table["parameter"].map(json.dumps)
    ledger = Ledger(paper, folder)
    ledger.path.unlink(missing_ok=True)
    ledger.append(table.to_dict("records"))


def curve(item, method, name, values, *, dataset="uwave", measure="accuracy"):
    """Rows of one repeat, from values by parameter."""
    return [(item, dataset, method, {name: x}, measure, 0, y) for x, y in values.items()]


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
    ours, single = summary.loc["MVLSVM"], summary.loc["PerViewSVM"]
    assert (ours["n"], ours["L"]) == (3, 10)
    interval = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    expected = [np.mean(values), np.std(values, ddof=1), *interval]
    assert ours[["mean", "std", "low", "high"]].tolist() == pytest.approx(expected)
    assert single[["mean", "n"]].tolist() == [0.8, 1]
    assert single[["std", "low", "high", "L"]].isna().all()


def test_splits_are_averaged_before_repeats(tmp_path):
    accuracy = np.array([[0.5, 0.6, 0.7], [0.6, 0.7, 0.8]])
    rows = [
        ("fig2", "flower17", "MVLSVM", {"L": 10, "split": s + 1}, "accuracy", r, accuracy[r, s])
        for r in range(2)
        for s in range(3)
    ]
    unfinished = ("fig2", "flower17", "MVLSVM", {"L": 10, "split": 1}, "accuracy", 2, 0.0)
    without_splits = curve("fig2", "MVLSVM", "L", {10: 0.9})
    write(tmp_path, [*rows, unfinished, *without_splits])
    summary = summarize("mvl_svm.fig2", tmp_path).set_index("dataset")
    flower = summary.loc["flower17", ["n", "mean", "std"]].tolist()
    assert flower == pytest.approx([2, 0.65, np.std([0.6, 0.7], ddof=1)])
    assert summary.loc["uwave", "mean"] == 0.9


def test_figure_4_joins_figures_2_and_3(tmp_path):
    write(
        tmp_path,
        curve("fig2", "MVLSVM", "L", {10: 0.8, 50: 0.9})
        + curve("fig3", "MVLSVM", "L", {10: 0.1, 50: 0.4}, measure="train_seconds")
        + [("fig2", "uwave", "PerViewSVM", {}, "accuracy", 0, 0.7)]
        + [("fig3", "uwave", "PerViewSVM", {}, "train_seconds", 0, 2.0)],
    )
    points = summarize("mvl_svm.fig4", tmp_path).set_index("accuracy")["train_seconds"]
    assert points.to_dict() == {0.8: 0.1, 0.9: 0.4, 0.7: 2.0}


@pytest.mark.parametrize("item", ITEMS)
def test_an_empty_ledger_compares_too(item, tmp_path):
    assert f"none yet: python -m mvref run {item}" in compare(item, tmp_path)
    assert summarize(item, tmp_path).empty


@pytest.mark.parametrize("paper", PAPERS)
def test_every_number_of_the_paper_has_its_place(paper):
    numbers = read_paper_numbers(paper)
    assert len(numbers) > (5 if paper == "mvm" else 20), "that paper has words only"
    assert np.isfinite(numbers["value"]).all()
    assert numbers["place"].str.match("section [0-9A-Z]|(caption of )?Table [0-9]").all()
    items = {item.name for item in ITEMS.values() if item.paper == paper}
    assert set(numbers["item"]) <= {"data", "protocol"} | items
    assert not numbers.duplicated(["item", "dataset", "method", "parameter", "measure"]).any()


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


def votes(folder, of_methods, others=(), *, m=100, dataset="mnist1"):
    """Write repeats of the accuracy by method, and other rows; returns all of them."""
    rows = [
        ("table1", dataset, method, {"m": m}, "accuracy", repeat, value)
        for method, values in of_methods.items()
        for repeat, value in enumerate(values)
    ]
    write(folder, [*rows, *others], paper="mwmvc2")
    return [*rows, *others]


def test_our_cells_stand_beside_the_papers(tmp_path):
    ours = [0.86, 0.87, 0.85]
    others = votes(tmp_path, {"MVMV": [0.84, 0.85, 0.86]}, dataset="mnist2-shift3")
    votes(tmp_path, {"MwMvC2": ours, "MwMvC2-paper": [0.75, 0.74, 0.76]}, others)
    lines = compare("mwmvc2.table1", tmp_path).splitlines()
    low, high = stats.t.interval(0.95, 2, np.mean(ours), stats.sem(ours))
    apart = (0.86 - 0.8659) / np.hypot(np.std(ours, ddof=1), 0.011)
    own = f"0.860 ({low:.3f}\N{EN DASH}{high:.3f}) | 0.866 ±\N{NO-BREAK SPACE}0.011 | {apart:+.1f}"
    assert f"| MwMvC2, accuracy | {own} |" in lines
    [variant] = [line for line in lines if line.startswith("| MwMvC2-paper, accuracy | 0.750 ")]
    assert variant.endswith("| **-7.8** |"), "a variant is compared too"
    assert any("MVMV, accuracy" in line and "| 0.850 (" in line for line in lines), lines
    assert "| Mono, accuracy | – | 0.783 ±\N{NO-BREAK SPACE}0.008 | – |" in lines


def test_where_nothing_is_printed_there_are_our_means(tmp_path):
    rows = curve("fig2", "MVLSVM", "L", {10: 0.91, 50: 0.96}) + [
        ("fig2", "uwave", "PerViewSVM", {}, "accuracy", 0, 0.8),
        ("fig2", "uwave", "MVLSVM", {"L": 10}, "n_landmarks", 0, 10.0),
    ]
    write(tmp_path, rows)
    *_, head, ten, fifty, none = compare("mvl_svm.fig2", tmp_path).splitlines()
    assert head.split() == ["dataset", "method", "L", "accuracy", "n_landmarks"]
    assert ten.split() == ["uwave", "MVLSVM", "10.0", "0.91", "10.0"]
    assert fifty.split() == ["uwave", "MVLSVM", "50.0", "0.96"]
    assert none.split() == ["uwave", "PerViewSVM", "0.80"]


def test_significance_is_scipys_on_the_repeats(tmp_path):
    rng = np.random.default_rng(0)
    best, close, far = (rng.normal(mean, 0.02, size=20) for mean in (0.85, 0.845, 0.80))
    alone = votes(tmp_path, {"Mono": best}, m=20)
    votes(tmp_path, {"MwMvC2": best, "MVMV": close, "Mono": far[:-1]}, alone)  # one repeat lacks
    found = significance("mwmvc2.table1", tmp_path)
    tests = found.query("m == 100").set_index("method")
    assert (tests["best"] == "MwMvC2").all()
    assert tests.loc["MwMvC2", ["p_rank_sum", "p_signed_rank"]].isna().all()
    assert tests["n"].to_dict() == {"MwMvC2": 20, "MVMV": 20, "Mono": 19}
    for method, values in (("MVMV", close), ("Mono", far[:-1])):
        paired = stats.wilcoxon(values, best[: len(values)])
        expected = [stats.ranksums(values, best).pvalue, paired.pvalue]
        p = tests.loc[method, ["p_rank_sum", "p_signed_rank"]].tolist()
        assert p == pytest.approx(expected)
    smaller, larger = sorted(tests["p_signed_rank"].dropna())
    assert sorted(tests["p_holm"].dropna()) == pytest.approx(
        [min(1, 2 * smaller), min(1, max(2 * smaller, larger))]
    )
    alone = found.query("m == 20")
    assert alone["best"].tolist() == ["Mono"], "methods compete at their own parameter point"


def test_pairs_decide_where_the_repeats_differ_more_than_the_methods(tmp_path):
    of_repeat = np.linspace(0.6, 0.9, 20)
    votes(tmp_path, {"MVMV": of_repeat, "Mono": of_repeat - 0.001})
    [test] = significance("mwmvc2.table1", tmp_path).query("method == 'Mono'").itertuples()
    assert test.p_rank_sum > 0.5
    assert test.p_signed_rank < 1e-4
    votes(tmp_path, {"MVMV": of_repeat, "Mono": of_repeat})
    equal = significance("mwmvc2.table1", tmp_path)
    assert equal["p_signed_rank"].dropna().tolist() == [1.0]
