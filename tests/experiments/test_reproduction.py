"""The reproduction report: complete, by its own rule, and every verdict with its measurement."""

import functools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from book.errata.pages import read_all, slug
from mvref.__main__ import main
from mvref.experiments import (
    read_ledger,
    read_paper_numbers,
    reproduction,
    reproduction_cells,
    reproduction_page,
    reproduction_report,
    summarize,
    verdict_table,
)
from mvref.experiments.engine import Ledger
from mvref.experiments.mvna_kmhks import FOUND
from mvref.experiments.report import printed_cells, with_parameters
from mvref.experiments.reproduction import (
    ANOTHER,
    BY_CHANCE,
    CANNOT_TELL,
    CELLS,
    CHANGED,
    KINDS,
    NOT_COMPARABLE,
    NOT_REPRODUCED,
    PAPERS,
    REPRODUCED,
    SHARE,
    TOLERANCE,
    VERDICTS,
    Result,
    cells_of,
    chance_of,
    distance,
    indexed,
    invented_rows,
    read_verdicts,
    verdict_by_rule,
)
from mvref.experiments.verdict_text import ERRATUM, LOOKS, anchor_of, read_headlines
from mvref.experiments.words import NAMES, readable

ROOT = Path(__file__).resolve().parents[2]
STORED = read_verdicts()
# What the papers print, in their order.
PRINTED = {
    "mvl_svm": ["fig1", "fig2", "fig3", "fig4", "fig5"],
    "mwmvc2": ["table1", "fig1", "fig2"],
    "mvpo": ["table1", "fig1", "fig2", "fig3", "fig4"],
    "mvm": ["table1", "fig1", "fig2", "fig3"],
    "mvna_kmhks": ["table1", "table2", "table3", "fig1"],
}
UWAVE, FLOWER = "uwave", "flower17-recomputed"

FORMAT = re.compile(r"[\s()]")  # what a formatter may add to a line of code


@functools.cache
def report():
    return reproduction_report()


@functools.cache
def all_cells():
    return reproduction_cells()


# The report -------------------------------------------------------------------------------------


def test_every_table_and_figure_has_a_verdict():
    found = {paper: set(rows["item"]) for paper, rows in STORED.groupby("paper")}
    assert {paper: items - {"text"} for paper, items in found.items()} == {
        paper: set(items) for paper, items in PRINTED.items()
    }
    assert list(PAPERS) == list(PRINTED)


def test_every_statement_is_whole():
    assert not STORED.astype(str).duplicated().any()
    assert set(STORED["verdict"]) <= set(VERDICTS)
    for row in STORED.itertuples():
        assert row.claim and row.place and row.why, row
        assert bool(row.ours) != bool(row.measured), row


def test_a_verdict_is_that_of_its_kind_and_of_its_share():
    """What a paper leaves open is not a change to it, and a few protocols of many are none."""
    for row in report().itertuples():
        allowed = {REPRODUCED: [""], NOT_REPRODUCED: ["left open", "contrary"]}
        allowed |= {CANNOT_TELL: ["", "left open"], NOT_COMPARABLE: ["", "other data"]}
        allowed |= {KINDS[kind]: [kind] for kind in ("left open", "contrary")}
        assert row.kind in allowed[row.verdict], row.claim
        assert bool(row.under) == (row.verdict in (ANOTHER, CHANGED)), row.claim
        if row.verdict == NOT_REPRODUCED:
            assert row.tried > 1 and row.near < SHARE * row.tried, row.claim
        if row.verdict in (ANOTHER, CHANGED) and row.tried:
            assert row.near >= SHARE * row.tried, row.claim


def test_the_page_keeps_the_rule_that_it_prints():
    """Read from what the chapter shows: shares beside verdicts, intervals beside reasons."""
    notebook = json.loads((ROOT / "book/reproduction.ipynb").read_text())
    shown = [of["data"] for cell in notebook["cells"] for of in cell.get("outputs", ())]
    text = "\n".join("".join(data.get("text/markdown", "")) for data in shown)
    shares = re.findall(r'verdict ([\w-]+)">[^(\n]*\((\d+) of (\d+) protocols', text)
    assert len(shares) > 80 and "or fewer than a quarter" not in text
    for verdict, near, tried in shares:
        if verdict not in ("reproduced", "cannot-tell"):
            few = int(near) < int(tried) / 4
            assert few == (verdict == "not-reproduced"), (verdict, near, tried)
    rows = re.findall(r'^\| .*verdict [\w-]+">.*?</span>.*?: (.*?) \|.*\((.*)\) \|$', text, re.M)
    assert len(rows) == len(read_headlines())
    for reason, spread in rows:
        ends = [float(end) for end in spread.split(" to ") if end != "one run"]
        zero = bool(ends) and ends[0] <= 0 <= ends[1]
        assert zero == reason.endswith("; the interval contains zero") and len(reason) > 20


@pytest.mark.parametrize(
    ("paper", "right", "wrong", "named"),
    [
        ("mwmvc2", '"as printed", item', '"as printd", item', "'as printd'"),
        ("mwmvc2", "protocol =", "protocl =", "'protocl'"),
        ("mwmvc2", "claim =", "clame =", "'clame' is no field"),
        ("mwmvc2", '"readings"', '"reading"', "'mwmvc2.reading'"),
        ("mwmvc2", 'item = "readings", dataset = "mnist1"', 'item = "readings", dataset = "mnist9"',
         "'mnist9'"),
        ("mwmvc2", 'method = "Mono-mean"', 'method = "MonoX"', "'MonoX'"),
        ("mwmvc2", 'sampling = "natural"', 'samplingx = "natural"', "samplingx is none"),
        ("mwmvc2", 'sampling = "natural"', 'sampling = "naturel"', "'naturel'"),
        ("mwmvc2", 'lam = "*", eta', 'lam = "*", etta', "etta is none"),
        ("mwmvc2", 'voters = "trees", max_iter = 1 ', 'voters = "trees" ', "no result"),
        ("mvna_kmhks", 'protocol = "folds"', 'protocols = "folds"', "protocols is none"),
        ("mvna_kmhks", 'protocol = "folds"', 'protocol = "fold"', "'fold'"),
        ("mvna_kmhks", '\ndataset = "iris"', '\ndataset = "irish"', "'irish'"),
        ("mvna_kmhks", "task == 'rest'", "task == 'rust'", "no universe"),
        ("mvna_kmhks", "task == 'rest'", "tusk == 'rest'", "tusk"),
        ("mvm", '= "mvm_sharing"', '= "mvm_shering"', "'mvm_shering'"),
        ("mvm", 'statement = "pairs"', 'statement = "pears"', "'pears'"),
        ("mvm", "multiverse =", "multivers =", "tried must be"),
        ("mvm", "holds = true", "hold = true", "tried must be"),
    ],
)  # fmt: skip
def test_a_misspelt_row_is_an_error(paper, right, wrong, named, monkeypatch):
    text = (reproduction.LEDGER / "verdicts" / f"{paper}.toml").read_text()
    number = text[: text.index(right)].count("[[verdict]]")
    with pytest.raises(
        ValueError, match=f"verdicts/{paper}.toml, verdict {number}.*{re.escape(named)}"
    ):
        rows = pd.DataFrame(reproduction.typed(paper, text.replace(right, wrong, 1)))
        one = rows.iloc[number - 1 : number]
        monkeypatch.setattr(reproduction, "read_verdicts", lambda paper: one)
        reproduction._judged.__wrapped__(paper, None, ())


def test_what_is_ours_is_not_typed():
    """Numbers of our own come from the ledger: a reason has none, but for sizes and places."""
    known = {"2", "4", "5", "7", "11", "26", "27", "110", "000", "1200", "1", "0", "07"}
    for row in STORED.itertuples():
        text = ERRATUM.sub("", row.why)
        assert set(re.findall(r"(?<!\w)\d+", text)) <= known, row.why


def test_every_printed_cell_is_in_the_report():
    """Means and counts of the papers' tables; spreads, arrows and p-values are parts of them."""
    key = ["paper", "dataset", "method", "measure", "parameter"]
    found = set(map(tuple, all_cells()[key].to_numpy()))
    for paper in PAPERS:
        numbers = read_paper_numbers(paper)
        numbers = numbers[numbers["place"].str.startswith("Table ")]
        numbers = numbers[~numbers["measure"].str.contains("_std$|_arrow$|_p$")]
        assert set(map(tuple, numbers[key].to_numpy())) <= found


@pytest.mark.parametrize("index", STORED.index[STORED["ours"].map(bool)].tolist())
def test_stored_verdicts_of_cells_follow_from_the_numbers(index):
    judged, row = report().loc[index], STORED.loc[index]
    again = "the ledger or the paper's numbers changed: judge again, in ledger/verdicts"
    assert (judged["by"], judged["verdict"]) == ("rule", row["verdict"]), again
    assert (all_cells()["row"] == index).any()


def test_what_a_search_has_found_counts_by_its_repeats_on_other_halves():
    rows = report().index[report()["dataset"].isin(FOUND)]
    found = all_cells()[all_cells()["row"].isin(rows)].query("point.str.startswith('table2_u')")
    found = found.groupby("row").filter(lambda row: row["measure"].nunique() == 2)
    near = found.groupby(["row", "point"]).filter(lambda point: point["within"].all())
    again = summarize("mvna_kmhks.table2_universes_again")
    assert len(near) == 6 and set(near["n"]) == {20}, "all that is near has run again"
    assert set(found.query("n == 20")["ours"]) == set(again["mean"]) and len(again) == 8


def ours(item):
    return indexed(summarize(f"mvna_kmhks.{item}"))


def cells(*parts):
    """Cells from (protocol, point, distance): equal up to 1, near up to 2."""
    table = pd.DataFrame(parts, columns=["protocol", "point", "distance"])
    return table.assign(equal=table["distance"].abs() <= 1)


def test_the_rule():
    printed, other, change = ("as printed", "a"), ("another protocol", "b"), ("a change", "c")
    assert verdict_by_rule(cells((*printed, 0.9), (*printed, -1.0))) == REPRODUCED
    assert verdict_by_rule(cells((*printed, 0.9), (*printed, -1.1))) == CANNOT_TELL, "in level"
    assert verdict_by_rule(cells((*printed, 0.9), (*printed, -2.1))) == NOT_REPRODUCED
    assert verdict_by_rule(cells((*printed, 2.1), (*other, 0.0))) == ANOTHER
    assert verdict_by_rule(cells((*printed, 2.1), (*other, 9.0), (*change, 0.0))) == CHANGED
    assert verdict_by_rule(cells((*other, 0.0), (*printed, 0.0))) == REPRODUCED
    assert verdict_by_rule(cells((*other, 0.0), (*other, 9.0))) == NOT_REPRODUCED, "not whole"
    assert verdict_by_rule(cells(("other data", "d", 0.0))) == NOT_COMPARABLE
    assert verdict_by_rule(cells((*printed, np.nan), (*printed, np.nan))) == NOT_COMPARABLE
    assert verdict_by_rule(cells((*printed, 0.0), (*printed, np.nan))) == NOT_REPRODUCED


@pytest.mark.parametrize(("kind", "gives"), [("another protocol", ANOTHER), ("a change", CHANGED)])
def test_a_few_protocols_of_many_are_none(kind, gives):
    for n, expected in ((4, gives), (5, NOT_REPRODUCED)):
        found = cells(*[(kind, str(k), 9.0 * (k > 0)) for k in range(n)])
        assert verdict_by_rule(found) == expected


def test_what_every_method_would_pass_tells_nothing():
    row = cells(("as printed", "a", 0.1), ("as printed", "a", 0.2), ("another protocol", "b", 0.0))
    assert verdict_by_rule(row.assign(alike=[True, True, True])) == CANNOT_TELL
    assert verdict_by_rule(row.assign(alike=[True, False, True])) == REPRODUCED
    assert verdict_by_rule(row.assign(alike=[True, True, False])) == ANOTHER
    assert verdict_by_rule(row.assign(alike=True, distance=9.0, equal=False)) == NOT_REPRODUCED


def mono(std):
    """One cell of which ours has a spread."""
    cell = dict.fromkeys(CELLS, "x") | {"paper": "mwmvc2", "protocol": "as printed", "n": 20}
    cell |= {"ours": 0.8, "std": std, "printed": 0.8, "printed_std": np.nan, "distance": 0.0}
    return pd.DataFrame([cell | {"equal": True, "alike": False}])


@pytest.mark.parametrize(("std", "verdict"), [(0.01, REPRODUCED), (0.1, CANNOT_TELL)])
def test_what_invented_numbers_would_pass_tells_nothing(std, verdict):
    invented = list(invented_rows(mono(std)))
    assert verdict_by_rule(mono(std)) == REPRODUCED
    assert verdict_by_rule(mono(std), invented) == verdict
    moved = invented[0]
    tolerance = TOLERANCE * std * np.sqrt(2 / 20)  # of the means, by hand
    by_hand = [abs(k) / 100 <= tolerance for k in range(-10, 11) if k]
    assert moved.equal[:, 0].tolist() == by_hand
    assert chance_of(REPRODUCED, invented[:1]) == np.mean(by_hand)


def test_every_verdict_by_rule_could_have_failed():
    """Of numbers that nobody has printed at most a tenth would have got it."""
    given = report().query("by == 'rule' and verdict in [@REPRODUCED, @ANOTHER, @CHANGED]")
    assert len(given) >= 6 and given["chance"].max() <= BY_CHANCE


def test_what_a_rule_without_features_would_pass_tells_nothing():
    row = STORED.query("measure == 'accuracy' and dataset == 'iris'").iloc[0].copy()
    row["method"] = ""
    printed = printed_cells(read_paper_numbers("mvna_kmhks"))
    row["ours"] = [Result("as printed", "table2", "iris", "*", {"protocol": "halves"})]
    assert not any(cell["alike"] for cell in cells_of(row, printed, ours))
    one = Result("baseline", "table2", "iris", "MVNA", {"protocol": "halves"})
    row["ours"] = [*row["ours"], one]  # as if it had no features
    found = cells_of(row, printed, ours)
    assert len(found) == 4 and all(cell["alike"] for cell in found)
    assert verdict_by_rule(pd.DataFrame(found).assign(equal=True)) == CANNOT_TELL


def test_alike_is_measured_on_the_other_methods_of_the_table():
    part = all_cells().query("item == 'table1' and dataset == 'mnist1' and measure == 'accuracy'")
    printed = part.drop_duplicates("method").set_index("method")
    for cell in part[part["protocol"] == "as printed"].itertuples():
        others = printed.drop(index=cell.method)
        spread = np.hypot(cell.std, others["printed_std"])
        near = (cell.ours - others["printed"]).abs() <= TOLERANCE * spread
        assert cell.alike == near.all()


def test_a_star_stands_for_all_that_the_ledger_has():
    rows = summarize("mvna_kmhks.alignment").query("dataset == 'iris' and measure == 'alignment'")
    row = STORED.query("measure == 'alignment' and dataset == 'iris'").iloc[0].copy()
    every = {"width": "*", "share": "*"}
    row["ours"] = [Result("another protocol", "alignment", "iris", "MVNA", every)]
    printed = printed_cells(read_paper_numbers("mvna_kmhks"))
    found = cells_of(row, printed, ours)
    assert len(found) == len(rows) > 4
    assert sorted(cell["ours"] for cell in found) == sorted(rows["mean"])


def test_distances():
    assert distance(0.7, 0.8, std=0.03, printed_std=0.04) == pytest.approx(-2.0)
    assert distance(0.8, 0.7, std=0.05) == pytest.approx(0.1 / np.hypot(0.05, 0.05))
    assert distance(25.0, 11.0, measure="errors") == pytest.approx(14 / 6)
    assert distance(6, 6, measure="n_views") == 0
    assert distance(5, 6, measure="n_views") == -np.inf
    assert distance(1.0, 0.9, std=0.0) == np.inf
    assert np.isnan(distance(np.nan, 0.9, printed_std=0.1))
    assert np.isnan(distance(np.nan, 6, measure="n_views"))


def test_a_cell_beside_a_small_ledger(tmp_path):
    mono = "dataset == 'mnist1' and method == 'Mono'"
    rows = read_ledger("mwmvc2").query(f"item == 'table1' and {mono} and repeat < 3")
    Ledger("mwmvc2", tmp_path).append(rows.to_dict("records"))
    values = rows[rows["measure"] == "f1"]["value"]
    printed = f"protocol == 'as printed' and measure == 'f1' and {mono}"
    [cell] = reproduction_cells("mwmvc2", tmp_path).query(printed).itertuples()
    assert (cell.n, cell.printed, cell.printed_std) == (3, 0.4355, 0.009)
    assert cell.ours == pytest.approx(values.mean())
    spread = np.hypot(values.std(ddof=1), 0.009)
    assert cell.distance == pytest.approx((values.mean() - 0.4355) / spread)
    verdicts = reproduction_report("mwmvc2", tmp_path).query("by == 'rule'")
    assert set(verdicts["verdict"]) == {REPRODUCED, NOT_COMPARABLE}
    assert verdicts.query("verdict == @REPRODUCED")["method"].tolist() == ["Mono"]


def test_the_sum_of_counts_is_judged_too():
    part = all_cells().query("paper == 'mvna_kmhks' and measure == 'errors'")
    part = part[part["point"].str.match("table3 ") & part["parameter"].str.contains("sum")]
    sums = part.set_index("method")
    assert sums["printed"].to_dict() == {"MVNA": 99, "NA": 124, "KMHKS": 122}
    own = summarize("mvna_kmhks.table3").query("measure == 'errors' and digit != 1")
    own = own.groupby("method")["mean"].sum()
    assert sums["ours"].to_dict() == pytest.approx(own[sums.index].to_dict())


# Where it is measured -----------------------------------------------------------------------------


@functools.cache
def chapter(paper, name, kind):
    """The texts of the cells of one kind of a chapter, if there is one."""
    path = ROOT / "book" / paper / f"{name}.ipynb"
    cells = json.loads(path.read_text())["cells"] if path.exists() else []
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


@pytest.mark.parametrize("row", list(STORED.itertuples()), ids=lambda row: str(row.Index))
def test_what_is_told_and_measured_somewhere_is_there(row):
    """The section that tells a statement, and what measures those that are judged in words."""
    name, heading = row.section.split("#", 1)
    texts = chapter(row.paper, name, "markdown")
    assert heading in re.findall(r"^#+ (.*)$", "\n".join(texts), re.MULTILINE)
    assert anchor_of(heading) == slug(heading)
    if row.measured.startswith("tests/"):
        file, test = row.measured.split("::")
        assert f"\ndef {test}(" in (ROOT / file).read_text()
    elif not row.ours:
        assert row.measured.startswith("assert ")  # the book runs it with the whole ledger
        sources = chapter(row.paper, name, "code") + chapter("universes", row.paper, "code")
        code = [FORMAT.sub("", source) for source in sources]
        assert sum(FORMAT.sub("", row.measured) in source for source in code) == 1, row.measured


def test_errata_that_are_named_exist():
    numbers = {row["id"] for kind in ("erratum", "remark") for row in read_all(kind)}
    named = {number for why in STORED["why"] for number in ERRATUM.findall(why)}
    assert named <= numbers
    assert len(named) > 10


# The page -----------------------------------------------------------------------------------------


@functools.cache
def page(paper):
    return reproduction_page(paper)


def test_errata_are_links_wherever_a_verdict_is_told():
    for text in (page("mvm"), verdict_table("mvm")):
        assert "(M11)" not in text and "([M11](#erratum-m11))" in text


@pytest.mark.parametrize("paper", PRINTED)
def test_the_page_has_every_statement_and_every_cell(paper):
    text, rows = page(paper), report()
    for row in rows[(rows["paper"] == paper) & (rows["by"] == "words")].itertuples():
        assert readable(row.claim.rstrip(".")) in text
    for item in PRINTED[paper]:
        title = item.replace("fig", "Figure ").replace("table", "Table ")
        assert f"<b>{title}" in text
    part = all_cells()[all_cells()["paper"] == paper]
    for cell in part.itertuples():
        assert f"{cell.printed:.0f}" in text or f"{cell.printed:.3f}" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert widths <= {4, 5}, "few columns"


def test_what_is_beyond_the_tolerance_is_bold():
    lines = [line.split("|")[-2].strip() for line in page("mwmvc2").splitlines() if "±" in line]
    lines = [line for line in lines if line != "–"]
    assert len(lines) > 40
    for line in lines:
        apart = abs(float(line.strip("*")))
        assert line.startswith("**") == (apart > 2.0) or apart == 2.0


def test_a_verdict_has_one_colour():
    css = (ROOT / "book" / "_static" / "mvref.css").read_text()
    rule = r"\.verdict\.([\w-]+)::before { color: (#\w+)"
    colors = {verdict.replace(" ", "-"): color for verdict, (color, _) in LOOKS.items()}
    assert dict(re.findall(rule, css)) == colors
    assert re.findall("filter: .*|.*blend.*", css) == ["filter: none !important;"]  # in dark, too


def test_reconstructions_are_called_so():
    text = page("mwmvc2")
    assert "MVWAB (reconstruction)" in text and "MVWAB, accuracy" not in text
    assert "Mono (reconstruction)" not in text and "RBoostSH, accuracy" in text


def test_names_and_numbers_are_for_a_reader():
    raw = "|".join(map(re.escape, set(NAMES) - {"MwMvC2"}))  # which is a class, in rows of a table
    for paper in PRINTED:
        text = re.sub(r"`.*?`|\(\S*?\)|mfeat digits", "", page(paper))  # without tests and links
        assert re.findall(rf"(?<![\w-])(?:{raw})(?![\w-])", text) == []
        assert "(reconstruction))" not in text
    assert readable('of mnist1 "of mnist1" by SVM^perf') == 'of MNIST1 "of mnist1" by SVM-perf'


def test_the_command_line_prints_it(capsys):
    assert main(["report", "mvm"]) == 0
    printed = capsys.readouterr().out
    assert "<" not in printed and "Table 1" in printed
    assert all(claim.rstrip(".") in printed for claim in report().query("paper == 'mvm'")["claim"])
    with pytest.raises(SystemExit):
        main(["report", "mvx"])
    assert "paper must be one of ['mvl_svm', " in capsys.readouterr().err


# Statements in words ------------------------------------------------------------------------------


def test_significantly_better_on_uwave_by_a_one_sided_test():
    """Welch's from 50 landmarks on, and not the paired one with two sides; the paper names none."""
    rows = read_ledger("mvl_svm").query("item == 'fig2' and measure == 'accuracy'")
    rows = with_parameters(rows)[0].fillna({"L": 0})
    rows = rows.groupby(["dataset", "method", "L", "repeat"])["value"].mean()

    def p(dataset, L, rival, paired=False):
        own, other = rows[dataset, "MVLSVM", L], rows[dataset, rival, L if rival == "MVML" else 0]
        if paired or len(other) == 1:  # nothing of the rival is drawn
            other = other.to_numpy()
            sides = "two-sided" if paired else "greater"
            return stats.ttest_1samp(own - other, 0.0, alternative=sides).pvalue
        return stats.ttest_ind(own, other, equal_var=False, alternative="greater").pvalue

    rivals = ("MVML", "PerViewSVM", "SVM2K")
    assert all(p(UWAVE, L, rival) < 0.05 for L in (50, 100, 200) for rival in rivals)
    assert p(UWAVE, 10, "PerViewSVM") > 0.05 < p(UWAVE, 200, "MVML", paired=True)
    assert all(p(FLOWER, 50, rival) < 0.05 for rival in rivals)
    assert p(FLOWER, 10, "PerViewSVM") > 0.5 and p(FLOWER, 10, "SVM2K") > 0.5
    assert p("mfeat", 50, "MVML") > 0.5 and p("mfeat", 50, "PerViewSVM") > 0.5


def test_training_times_are_not_stable_over_the_parameters():
    rows = summarize("mvpo.fig4").query("measure == 'train_seconds'")
    times = rows.groupby(["dataset", "target"])["mean"].agg(["min", "max"])
    assert (times["max"] > 2.5 * times["min"]).all()
