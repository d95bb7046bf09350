"""The jobs of every item: keys, repeats, methods, seeds that items share; printed settings."""

import pandas as pd
import pytest
from sklearn.base import is_classifier

from mvref import all_methods
from mvref.experiments import (
    ITEMS,
    calibration,
    interactions,
    methods,
    mvl_svm,
    mvna_kmhks,
    mvpo,
    mwmvc2,
    noise,
    nystrom_methods,
    read_paper_numbers,
    speed,
    speed_peers,
    study,
    universes_mvl_svm,
    universes_mvpo,
    voting,
    voting_text,
)
from mvref.experiments.engine import COLUMNS, encode_parameter

NO_ROWS = pd.DataFrame(columns=COLUMNS)
WAITING = ("mvl_svm.fig3", "mvl_svm.fig4", "mvna_kmhks.table3_paired",
           "multiverse.mvna_table2_again", "multiverse.mvna_table3_again",
           "multiverse.mwmvc2_table1_again")  # for rows of others  # fmt: skip
IN_UNIVERSES = (*universes_mvl_svm.MULTIVERSES, *universes_mvpo.MULTIVERSES)
TIMED = {"mvl_svm.fig3", "mvpo.fig4", "speed.scaling", "speed.against", "speed.peers"}
REPEATS = {  # of an item, else of its paper, of one of its data sets
    "mvl_svm": 5, "mvl_svm.columns flower17": 1, "mvl_svm.columns uwave": 20,
    "mvl_svm.extensions": 20,
    **{f"mvl_svm.fig5 {name}": n for name, n in mvl_svm.MISSING_REPEATS.items()},
    "mwmvc2": 5, "mwmvc2.table1": 20, "mwmvc2.joint": 20,
    "mvpo": 10, "mvpo.fig3": 3, "mvpo.fig4": 1,
    "mvm": 20, "mvm.real": 3,
    "mvna_kmhks": 20, "mvna_kmhks.table3": 3, "mvna_kmhks.table3_untuned": 3,
    "mvna_kmhks.table2_universes": 10,
    "speed": 3, "multiverse": 4, "multiverse.mvna_table3": 1,
    **{m.item.full_name: m.n_repeats for m in IN_UNIVERSES},
    "multiverse.mwmvc2_table1": 3, "multiverse.mwmvc2_figure2": 3,
    "multiverse.mwmvc2_order": 20, "multiverse.mvm_sharing": 5,
    "mwmvc2.sentences": voting_text.N_REPEATS,
    **{f"mvpo.noise {name}": n for name, n in noise.REPEATS.items()},
    **{f"speed.peers {name}": n for name, n in speed_peers.REPEATS.items()},
    "calibration": 10,
    "study": 3,
    **{f"study.{of} {name}": n for name, n in study.REPEATS_OF.items() for of in ("n100", "gaps")},
    "calibration.coverage": 1,
    "calibration.by_pattern": calibration.N_RUNS,
}  # fmt: skip
QUICK_REPEATS = {"mwmvc2": 2, "mwmvc2.sentences": 1, "mvna_kmhks.table2": 2}  # others: 1
METHODS = {
    "mwmvc2.table1": mwmvc2.METHODS,
    "mwmvc2.fig2": mwmvc2.METHODS,
    "mvpo.fig1": (*mvpo.FIG1_METHODS, *mvpo.RIVALS),
    "mvm.order": interactions.METHODS,
    "mvm.real": interactions.METHODS,
    "mvna_kmhks.table2": mvna_kmhks.METHODS,
    "mvna_kmhks.table3": mvna_kmhks.ON_DIGITS,
    "multiverse.mvna_table2": mvna_kmhks.OF_PAPER,
    **{m.item.full_name: m.methods for m in IN_UNIVERSES},
    "speed.scaling": speed.LARGEST | speed.BASELINES,
    "speed.against": speed.PAIRS,
}
OF_FILE = [pytest.mark.data("flower17")]  # its name is in the file
CASES = [
    pytest.param(item, dataset, id=f"{name} {dataset}", marks=OF_FILE * (dataset == "flower17"))
    for name, item in ITEMS.items()
    for dataset in item.datasets
]


def told(table, item, dataset, default=None):
    """What a table says of the data set of an item, of the item, or of its paper."""
    names = f"{item.full_name} {dataset}", item.full_name, item.paper
    return next((table[name] for name in names if name in table), default)


@pytest.mark.parametrize(("item", "dataset"), CASES)
def test_jobs_are_distinct_and_follow_the_protocol(item, dataset):
    full, quick = (list(item.jobs(dataset, quick, NO_ROWS)) for quick in (False, True))
    for jobs in (full, quick):
        keys = {(j.dataset, j.method, encode_parameter(j.parameter), j.repeat) for j in jobs}
        assert len(keys) == len(jobs)
        assert all(j.dataset.startswith(dataset) for j in jobs), "the status line counts by this"
        assert not any("n" in j.parameter for j in jobs), "a column of the summaries"
    methods, n_repeats = told(METHODS, item, dataset), told(REPEATS, item, dataset)
    if item.full_name in WAITING:
        assert full == quick == []
        return
    assert {job.repeat for job in full} == set(range(n_repeats))
    assert {job.repeat for job in quick} == set(range(told(QUICK_REPEATS, item, dataset, 1)))
    assert {job.method for job in quick} <= {job.method for job in full}
    assert 0 < len(quick) < len(full)
    if methods:
        assert {job.method for job in full} - {"data"} == set(methods)


def test_one_job_at_a_time_where_time_is_measured():
    assert {name for name, item in ITEMS.items() if item.serial} == TIMED


def test_which_items_share_their_splits():
    def seeds(name, dataset="mfeat", n=5):
        return [ITEMS[name].seed(dataset, repeat) for repeat in range(n)]

    halves = seeds("mvpo.fig1")
    assert len(set(halves)) == 5 and not set(halves) & set(seeds("mvpo.fig1", "webkb"))
    for name in ("mvpo.fig2", "mvpo.alike", "mvpo.fig3", "mvpo.fig4", "mvm.real"):
        assert seeds(name) == halves
    assert seeds("study.n100") == seeds("study.gaps") == seeds("study.words")


def test_every_classifier_of_mvref_is_timed():
    classifiers = {name for name, cls in all_methods().items() if is_classifier(cls())}
    assert set(speed.LARGEST) == classifiers
    ends = (speed.LARGEST | speed.BASELINES).values()
    assert all(largest in speed.SIZES[2:] for largest in ends), "for a slope"


@pytest.mark.parametrize(
    ("paper", "settings"),
    [
        ("mvl_svm", {"n_repeats": mvl_svm.N_REPEATS, "epsilon": methods.AGREEMENT["eps"],
                     "L": mvl_svm.MISSING_LANDMARKS, "c_min": mvl_svm.GRID[0]["C"],
                     "missing_max": mvl_svm.RATIOS[-1]}),
        ("mwmvc2", {"n_test": voting.N_TEST_MNIST, "test_share": voting.TEST_SHARE,
                    "n_repeats": mwmvc2.N_REPEATS, "max_iter": mwmvc2.N_UPDATES,
                    "n_rounds": mwmvc2.N_ROUNDS, "train_share": mwmvc2.FUSION_SHARE,
                    "nystrom_share": voting.NYSTROM_SHARE}),
        ("mvpo", {"n_repeats": mvpo.N_REPEATS}),
        ("mvna_kmhks", {"n_views": nystrom_methods.N_VIEWS, "n_folds": mvna_kmhks.N_REPEATS,
                        "m": mvna_kmhks.N_COMPONENTS}),
    ],
)  # fmt: skip
def test_protocols_have_the_settings_that_their_papers_print(paper, settings):
    printed = read_paper_numbers(paper).query("item != 'data'").groupby("measure")["value"]
    assert {name: set(printed.get_group(name)) for name in settings} == {
        name: {value} for name, value in settings.items()
    }
