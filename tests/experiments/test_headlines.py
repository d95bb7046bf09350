"""The headline claims: verbatim, judged where all verdicts are, and recomputed from the ledger."""

import pytest
from scipy import stats

from book.quotations import is_printed
from mvref.experiments import read_ledger, summarize
from mvref.experiments.reproduction import PAPERS
from mvref.experiments.verdict_text import differences, headlines, read_headlines

HEADLINES = read_headlines()


@pytest.fixture(scope="module")
def table():
    return headlines().set_index("paper")


def test_every_paper_has_one():
    assert list(dict.fromkeys(headline.paper for headline in HEADLINES)) == list(PAPERS)


@pytest.mark.papers
@pytest.mark.parametrize("headline", HEADLINES, ids=lambda headline: headline.paper)
def test_they_are_verbatim(headline):
    assert is_printed(headline.quote)


def test_differences_of_the_double_vote(table):
    where = "item == 'table1' and dataset == 'mnist1' and measure == 'accuracy'"
    rows = read_ledger("mwmvc2").query(where)
    values = rows.pivot(index="repeat", columns="method", values="value")
    rivals = values.loc[:, ~values.columns.str.startswith("MwMvC2")]
    gap = values["MwMvC2"] - rivals[rivals.mean().idxmax()]
    interval = stats.t.interval(0.95, len(gap) - 1, gap.mean(), stats.sem(gap))
    found = table.loc["mwmvc2", ["printed", "ours", "low", "high"]].tolist()
    assert found == pytest.approx([0.0189, gap.mean(), *interval])


def test_errors_are_summed_over_the_digits(table):
    errors = summarize("mvna_kmhks.table3").query("measure == 'errors' and digit != 1")
    sums = errors.groupby("method")["mean"].sum()
    row = table.loc["mvna_kmhks"]
    assert row["ours"] == pytest.approx(sums["MVNA"] - sums["KMHKS"])
    assert row["printed"] == 99 - 122
    assert row["low"] < row["ours"] < row["high"]
    gap = differences(HEADLINES[-1])["optdigits",]
    assert gap.iloc[0] == pytest.approx(row["ours"], abs=6)  # one draw of three


def test_cells_of_a_figure_count_one_each():
    headline = next(headline for headline in HEADLINES if headline.paper == "mvpo")
    found = differences(headline)
    assert len(found) == 9
    means = summarize("mvpo.fig1").query("measure == target")
    for (dataset, target), gap in found.items():
        part = means[(means["dataset"] == dataset) & (means["target"] == target)]
        part = part.set_index("method")["mean"]
        best = part[[name for name in headline.rivals if name in part]].max()
        assert len(gap) > 1 and gap.mean() == pytest.approx(part["MVPO"] - best, abs=0.01)
