"""Universes of MVL-SVM: each choice does what its name says, and so do the statements.

What they came to is asserted in the chapter on the protocols of MVL-SVM.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mvref import MVLSVM, LandmarkProjection
from mvref.core.input import MultiView
from mvref.experiments import universes_mvl_svm as universes
from mvref.experiments.methods import LandmarkSVM, tuned_accuracy
from mvref.experiments.problems import load_people, load_problem
from mvref.experiments.tuning import Method, train, tuned
from mvref.experiments.universes_mvl_svm import (
    BY_PEOPLE,
    CODE,
    FIGURE2,
    MULTIVERSES,
    STATEMENTS,
    TIME,
    evaluations_anew,
    grid_of,
    incomplete,
    method_of,
    on_figure2,
    on_figure5,
    on_time,
    problem_of,
)

needs_uwave = pytest.mark.data("uwave")


# ------------------------------------------------------------------------------------ choices


def test_how_many_universes_there_are():
    counts = {(m.name, name): len(m.universes(name)) for m in MULTIVERSES
              for name in m.datasets}  # fmt: skip
    assert counts == {
        ("mvl_figure2", "uwave"): 87, ("mvl_figure2", "mfeat"): 12, ("mvl_time", "uwave"): 72,
        ("mvl_missing", "uwave"): 288, ("mvl_people", "uwave-people"): 32,
    }  # fmt: skip


def test_a_kernel_is_a_factor_of_gamma_or_the_mean_product():
    plain = problem_of("mfeat", "columns", "code", 1)
    a, b = plain.X.views[0][:2]
    n, apart = len(a), ((a - b) ** 2).sum()
    text, narrow, product = (problem_of("mfeat", "columns", k, 1).X.views[0][:2]
                             for k in ("text", "narrow", "linear"))  # fmt: skip
    assert np.exp(-((text[0] - text[1]) ** 2).sum() / n) == pytest.approx(
        np.exp(-apart / (2 * np.sqrt(n) ** 2)), rel=1e-9
    ), "the standard deviation is the square root of the number of features"
    assert ((narrow[0] - narrow[1]) ** 2).sum() == pytest.approx(4 * apart)
    assert product[0] @ product[1] == pytest.approx((a * b).mean())
    assert problem_of("mfeat", "columns", "linear", 1).meta["kernel"] == "linear"
    point = {"scaling": "columns", "tuning": "none", "seed": 1, "measures": ()}
    linear, code = (on_figure2("mfeat", "SVC", kernel=k, **point) for k in ("linear", "code"))
    assert linear == code, "linear for the landmarks alone"


@needs_uwave
def test_the_series_are_normalised_by_axis_so_that_all_at_once_is_a_factor():
    X = load_problem("uwave").X
    whole = X.concat().std(axis=1, ddof=1)
    for view in X.views:
        assert np.abs(view.mean(axis=1)).max() < 1e-3 or np.ptp(view, axis=1).min() == 0
    regular = np.min([view.std(axis=1) for view in X.views], axis=0) > 0.5
    assert (~regular).sum() == 1, "one axis is constant"
    assert np.allclose(whole[regular], np.sqrt(942 / 944), atol=1e-5)


def test_grids_as_the_text_and_the_code_have_them():
    assert grid_of("code", 896) == grid_of("shuffled", 896) == CODE
    assert grid_of("text", 896)[-1] == 1e4 and grid_of("none", 896) == [1.0]
    assert np.allclose(np.array(grid_of("mean", 896)) * 896, 10.0 ** np.arange(5))


def test_a_universe_chooses_as_the_items_of_part_one_do():
    seed = FIGURE2.item.seed("mfeat", 0)
    point = {"scaling": "columns", "kernel": "code", "machine": "squared_hinge"}
    split = load_problem("mfeat", seed=seed)
    for name in ("MVLSVM-10", "linear"):
        of = method_of(name, "squared_hinge", CODE)
        expected = tuned(split, of, seed).measure(("accuracy",))
        kept = FIGURE2.point(name, point)
        assert on_figure2("mfeat", name, measures=(), tuning="code", seed=seed, **kept) == expected


def test_one_view_is_chosen_with_its_constant():
    split = load_problem("mfeat", seed=2)
    of = method_of("view", "", (0.1, 1.0), 6)
    assert [tuple(p.values()) for p in of.points] == [(C, v) for C in (0.1, 1.0) for v in range(6)]
    run = train(split, of, 9, 2)  # C = 1, the fourth view
    one = Method(universes.Columns, points=[{"C": 1.0}], fixed={"head": universes.rbf})
    alone = replace(split, X=MultiView([split.X.views[3]]))
    assert np.array_equal(run.predicted, train(alone, one, 0, 2).predicted)


@needs_uwave
def test_landmarks_of_the_last_fold(monkeypatch):
    seen = {}

    class Spy(LandmarkSVM):
        def __init__(self, split, rows, seed, **options):
            super().__init__(split, rows, seed, **options)
            chosen = self.drawn.landmarks_.views[0]
            pool = split.X.views[0]
            seen["rows"] = {int(np.flatnonzero((pool == one).all(axis=1))[0]) for one in chosen}

    monkeypatch.setattr(universes, "LandmarkSVM", Spy)
    universes.accuracy_of.cache_clear()
    split = load_problem("uwave")
    fit, check = map(set, split.folds[-1])
    point = {"scaling": "file", "kernel": "code", "machine": "squared_hinge", "tuning": "none"}
    for landmarks in ("fold", "all"):
        on_figure2("uwave", "MVLSVM-50", measures=(), seed=3, landmarks=landmarks, **point)
        assert len(seen["rows"]) == 50 and seen["rows"] <= fit | check
        assert bool(seen["rows"] & check) == (landmarks == "all")
    universes.accuracy_of.cache_clear()


@needs_uwave
def test_one_person_tests_and_the_others_or_all_train():
    who = np.asarray(universes.load_problem.__globals__["load_dataset"]("uwave").meta["user"])
    official = load_problem("uwave")
    tested = []
    for person in BY_PEOPLE.axes["person"]:
        others, mixed = (load_people(f"uwave-{kind}", person, 5) for kind in ("people", "mixed"))
        assert set(who[others.test]) == {person} and person not in who[others.train]
        assert set(who[mixed.train]) == set(range(1, 9)) and len(mixed.train) == len(others.train)
        assert np.array_equal(others.test, mixed.test)
        assert set(others.train) | set(mixed.train) <= set(official.train)
        for fit, check in others.folds:
            assert not set(who[fit]) & set(who[check])
            assert set(fit) | set(check) == set(others.train)
        tested += list(others.test)
    assert sorted(tested) == sorted(official.test)
    again, other = (load_people("uwave-mixed", 1, seed) for seed in (5, 6))
    assert np.array_equal(again.train, load_people("uwave-mixed", 1, 5).train)
    assert not np.array_equal(again.train, other.train)


def test_similarities_that_every_machine_computes_anew_by_loops():
    y = np.array([0, 0, 0, 1, 1, 2])
    pairs = rest = 0
    for k in range(3):
        rest += sum(1 for _ in y for _ in y)
        for other in range(k):
            of_both = [label for label in y if label in (k, other)]
            pairs += sum(1 for _ in of_both for _ in of_both)
    assert evaluations_anew(y, "pairs") == pairs and evaluations_anew(y, "rest") == rest


@needs_uwave
def test_a_landmark_costs_a_similarity_per_sample_and_view():
    point = {"m": 896, "C": 1.0, "seed": 0}
    measures = ("evaluations", "prepare_seconds", "solve_seconds")
    ours = on_time("uwave", "MVLSVM", measures=measures, L=10, loss="hinge", **point)
    vote = on_time("uwave", "vote", measures=(*measures, "anew"), classes="rest", **point)
    assert ours["evaluations"] == 3 * 896 * 10 and vote["evaluations"] == 3 * 896**2
    assert vote["anew"] == 8 * vote["evaluations"] and min(ours.values()) > 0


def test_known_similarities_are_kept_or_replaced():
    split = incomplete("mfeat", 0.5, 2)
    known = split.meta["complete"][split.train]
    drawn = LandmarkProjection(200, random_state=2).fit(known).landmarks_
    svm = MVLSVM(landmarks=drawn, c=len(known), loss="squared_hinge")
    for kept, clip in ((True, True), (False, True), (True, False)):
        options = {"keep_known": kept, "clip": "auto" if clip else None}
        svm.set_params(**options).fit(split.X[split.train], split.y[split.train])
        given = {"missing": 0.5, "seed": 2, "C": 1.0, "kept": kept, "clip": clip}
        ours = on_figure5("mfeat", "MVLSVM", measures=("accuracy",), **given)
        assert ours["accuracy"] == svm.score(split.X[split.test], split.y[split.test])


def test_treatments_of_gaps_are_those_of_figure_5():
    given = {"missing": 0.5, "seed": 7}
    for ours, theirs in (("MVLSVM", "MVLSVM"), ("mean", "MVLSVM-mean"), ("drop", "MVLSVM-drop"),
                         ("vote", "PerViewSVM")):  # fmt: skip
        kept = {} if ours == "vote" else {"L": 200}
        points = [{"C": 1.0}]
        other = tuned_accuracy("mfeat", theirs, measures=("accuracy",), points=points, **given,
                               **kept)  # fmt: skip
        own = on_figure5("mfeat", ours, measures=("accuracy",), C=1.0, **given)
        assert own["accuracy"] == pytest.approx(other["accuracy"], abs=0.005), ours


# --------------------------------------------------------------------------------- statements


def values_of(accuracies):
    """The values of the statements on uWave, of one universe."""
    means = pd.DataFrame({("uwave", name, "accuracy"): [v] for name, v in accuracies.items()})
    return {name: float(np.asarray(s.value(means))[0]) for name, s in STATEMENTS.items()
            if "mfeat" not in name}  # fmt: skip


def test_statements_by_hand():
    numbers = {"MVLSVM-10": 0.93, "MVLSVM-50": 0.95, "MVLSVM-200": 0.94, "vote": 0.92,
               "SVC": 0.96, "linear": 0.80, "view": 0.70}  # fmt: skip
    error = np.sqrt(0.95 * 0.05 / 3582)
    expected = {"vote": 0.03, "ten_vote": 0.01, "ten_best": -0.02, "ten_error": error - 0.02,
                "ten_point": -0.01, "SVC_uwave": -0.01, "linear_uwave": 0.15,
                "view_uwave": 0.25}  # fmt: skip
    assert values_of(numbers) == pytest.approx(expected, abs=1e-8)
    best = values_of(numbers | {"MVLSVM-10": 0.95})
    assert best["ten_best"] > 0 and best["ten_point"] == pytest.approx(0.01)
    behind = values_of(numbers | {"MVLSVM-10": 0.95, "vote": 0.955})
    assert behind["ten_best"] == behind["ten_point"] == pytest.approx(-0.005)
    times = {("MVLSVM", "prepare_seconds"): 1, ("MVLSVM", "solve_seconds"): 9,
             ("MVLSVM", "evaluations"): 5, ("vote", "prepare_seconds"): 900,
             ("vote", "solve_seconds"): 100, ("vote", "evaluations"): 50, ("vote", "anew"): 5000,
             ("rbf", "solve_seconds"): 90, ("SVC", "prepare_seconds"): 0,
             ("SVC", "solve_seconds"): 1}  # fmt: skip
    means = pd.DataFrame({("uwave", *cell): [float(v)] for cell, v in times.items()})
    values = {name: float(s.value(means).iloc[0]) for name, s in TIME.statements.items()}
    assert values == pytest.approx({
        "ten_times": 2, "hundred": 2, "hundred_solver": np.log10(100 / 9), "hundred_shared": 1,
        "hundred_anew": 3, "linear_latent": 1, "linear_columns": -1,
    })  # fmt: skip
