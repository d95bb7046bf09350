"""Summaries over repeats and splits, and the comparison with the paper."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mvref.experiments import ITEMS, compare, read_paper_numbers, summarize
from mvref.experiments.claims import CLAIMS
from mvref.experiments.engine import COLUMNS


def write(folder, rows):
    """Write a ledger from (item, dataset, method, parameter, measure, repeat, value)."""
    names = ["item", "dataset", "method", "parameter", "measure", "repeat", "value"]
    table = pd.DataFrame(rows, columns=names).assign(paper="mvl_svm", seed=0, seconds=1.0)
    table[["mvref", "python", "numpy", "scipy", "sklearn"]] = "1.0"
    table["parameter"] = table["parameter"].map(json.dumps)
    table[COLUMNS].to_csv(folder / "mvl_svm.csv", index=False)


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
    summary = summarize("fig2", tmp_path).set_index("method")
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
    summary = summarize("fig2", tmp_path).set_index("dataset")
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
    points = summarize("fig4", tmp_path).set_index("accuracy")["train_seconds"]
    assert points.to_dict() == {0.8: 0.1, 0.9: 0.4, 0.7: 2.0}


def test_comparison_shows_our_value_the_papers_the_place_and_a_reason(tmp_path):
    write(tmp_path, curve("fig2", "MVLSVM", "L", [10, 50, 200], [0.91, 0.96, 0.95]))
    text = " ".join(compare("fig2", tmp_path).split())
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
    assert "ours 1.00 on uwave" in " ".join(compare("fig3", tmp_path).split())
    assert "ours 0.2 (the step after it costs 0.180)" in " ".join(compare("fig5", tmp_path).split())


@pytest.mark.parametrize("item", [item.name for item in ITEMS.values()])
def test_an_empty_ledger_compares_too(item, tmp_path):
    assert "none yet: python -m mvref run" in compare(item, tmp_path)


def test_every_number_of_the_paper_has_its_place():
    numbers = read_paper_numbers("mvl_svm")
    assert len(numbers) > 20
    assert np.isfinite(numbers["value"]).all()
    assert numbers["place"].str.startswith("section").all()
    assert set(numbers["item"]) <= {"data", "protocol"} | {i.name for i in ITEMS.values()}
    of_items = numbers[numbers["item"].str.startswith("fig")]
    assert {("mvl_svm", m) for m in of_items["measure"]} <= set(CLAIMS)
