"""Protocol of the times: samples, sizes, slopes, and pairs that solve one problem."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mvref
from mvref.experiments import speed, speed_peers, tables, tuning
from mvref.experiments.engine import encode_parameter
from mvref.experiments.speed import (
    LARGEST,
    N_TEST,
    SIZES,
    build,
    compared,
    draw_gaussians,
    measured,
    slopes,
    time_table,
)
from mvref.experiments.speed_pairs import PAIRS, Contest, Pair, against, table_1
from mvref.experiments.tables import timed
from tests import literal_mvna as literal

# ----------------------------------------------------------------------------- the samples


def test_the_classes_differ_by_what_is_stated():
    X, y = draw_gaussians(0)
    for view in X.views:
        gap = (view[y == 1].mean(axis=0) - view[y == -1].mean(axis=0)) * np.sqrt(view.shape[1])
        assert_allclose(gap, 0.5, atol=6 * 2 / np.sqrt(len(y)))
        within = view[y == 1] * np.sqrt(view.shape[1])
        assert_allclose(within.std(axis=0), 1.0, atol=0.05)
    assert abs((y == 1).mean() - 0.5) < 0.02
    assert len(y) == SIZES[-1] + N_TEST


def test_samples_follow_from_the_seed_alone():
    X, y = draw_gaussians(3)
    draw_gaussians.cache_clear()
    again, labels = draw_gaussians(3)
    assert_array_equal(y, labels)
    assert_array_equal(X.views[1], again.views[1])
    assert not np.array_equal(X.views[0], X.views[1])
    assert not np.array_equal(X.views[0], draw_gaussians(4)[0].views[0])


def test_nobody_is_tested_on_what_trained(monkeypatch):
    """Smaller problems are the first samples of larger ones, and the test part is none of them."""
    seen = []

    class Spy:
        def get_params(self):
            return {}

        def fit(self, X, y):
            seen.append(X.views[0][:, 0])

        def predict(self, X):
            seen.append(X.views[0][:, 0])

    monkeypatch.setattr(speed, "build", lambda method, seed: Spy())
    monkeypatch.setattr(speed, "timed", tables.seconds_of)
    for n in (SIZES[0], SIZES[-1]):
        measured("", "any", measures=(), samples=n, seed=1)
    small, test, _, _, large, again, *_ = seen
    assert_array_equal(small, large[: SIZES[0]])
    assert_array_equal(test, again)
    assert len(large) == SIZES[-1] and len(test) == N_TEST
    assert not set(large.tolist()) & set(test.tolist())


# ----------------------------------------------------------------------------- the methods


@pytest.mark.parametrize("method", LARGEST)
def test_methods_have_their_defaults_and_a_seed(method):
    model, plain = build(method, 5), mvref.all_methods()[method]()
    defaults = plain.get_params()
    assert model.get_params() == defaults | {k: 5 for k in defaults if k == "random_state"}


def test_a_short_call_is_repeated_and_a_long_one_is_not(monkeypatch):
    ticks = iter([0.0, 0.05, 1.0, 1.2, 2.0, 2.4, 3.0, 3.3, 10.0, 10.8])
    monkeypatch.setattr(tuning.time, "process_time", lambda: next(ticks))
    assert timed(lambda: "short") == ("short", pytest.approx(0.3))
    assert timed(lambda: "long") == ("long", pytest.approx(0.8))


def test_a_method_is_timed_with_its_warnings_kept_silent():
    values = measured("", "SMS", measures=(), samples=250, seed=0)
    assert set(values) == {"fit_seconds", "predict_seconds"} and min(values.values()) > 0


def test_a_quick_run_has_every_method_and_every_pair():
    for item in speed.ITEMS[:2]:
        full, quick = (list(item.jobs("", quick, None)) for quick in (False, True))
        assert {job.method for job in quick} == {job.method for job in full}
        assert len(quick) < len(full) / 5
    assert {job.parameter["samples"] for job in speed.scaling("", False, None)} == set(SIZES)


# ----------------------------------------------------------------------------- slopes


@given(st.floats(0.0, 3.0), st.floats(1e-9, 1e-2), st.integers(3, 8))
def test_the_slope_of_a_power_is_its_exponent(power, constant, n_sizes):
    sizes = np.array(SIZES[:n_sizes])
    seconds = constant * sizes**power
    assert slopes(sizes, seconds) == pytest.approx(power, abs=1e-8)
    both = slopes(sizes, np.column_stack([seconds, 5 * seconds]))
    assert_allclose(both, power, atol=1e-8)


def test_the_slope_is_that_of_the_upper_half():
    sizes = np.array(SIZES)
    seconds = np.where(sizes > SIZES[3], 1e-6 * sizes**2.0, 1.0)
    assert slopes(sizes, seconds) == pytest.approx(2.0)
    assert slopes(sizes[:5], np.r_[9.0, 9.0, 1e-6 * sizes[2:5]]) == pytest.approx(1.0)  # three


def test_tables_are_sorted_by_the_number_of_samples():
    def row(item, method, samples, repeat, measure, value):
        text = encode_parameter({"samples": samples})
        return {"item": item, "method": method, "parameter": text, "repeat": repeat,
                "measure": measure, "value": value}  # fmt: skip

    rows = pd.DataFrame([
        row("scaling", "A", 1000, 0, "fit_seconds", 4.0),
        row("scaling", "A", 250, 0, "fit_seconds", 1.0),
        row("scaling", "A", 250, 1, "fit_seconds", 2.0),
        row("scaling", "A", 1000, 1, "fit_seconds", 8.0),
        row("scaling", "A", 250, 0, "predict_seconds", 7.0),
        row("against", "B", 250, 0, "fit_seconds", 7.0),
    ])  # fmt: skip
    tables = time_table(rows, "fit_seconds")
    assert set(tables) == {"A"}
    assert tables["A"].index.tolist() == [250, 1000]
    assert tables["A"].to_numpy().tolist() == [[1.0, 2.0], [4.0, 8.0]]


# ----------------------------------------------------------------------------- pairs


@pytest.mark.parametrize("name", PAIRS)
def test_the_two_forms_of_a_pair_have_one_answer(name):
    limit = 1e-2 if PAIRS[name].kind == "scikit-learn" else 1e-9
    values = compared("", name, measures=(), samples=500, seed=11)
    assert values["difference"] <= limit
    assert values["ours_seconds"] > 0 and values["theirs_seconds"] > 0


@pytest.mark.parametrize("name", ["MVPO", "FMClassifier", "NAKMHKS", "MVLSVM"])
def test_another_c_is_another_answer(name, monkeypatch):
    """The difference tells a wrong translation of parameters: here both sides have C, doubled."""
    X, y = draw_gaussians(0)
    part, labels, test = X[:500], y[:500], X[-N_TEST:]
    one = PAIRS[name].contest(part, labels, test)
    monkeypatch.setattr("mvref.experiments.speed_pairs.C", 2.0)
    other = PAIRS[name].contest(part, labels, test)
    mixed, theirs = one.our_answer(one.ours()), other.their_answer(other.theirs())
    assert np.abs(mixed - theirs).max() / np.abs(theirs).max() > 1e-2


def test_turns_and_difference_by_hand(monkeypatch):
    """One warm-up each, then turns; medians; the largest distance over the largest answer."""
    calls = []
    ticks = iter([0, 1, 0, 10, 0, 3, 0, 20, 0, 2, 0, 60])
    monkeypatch.setattr(tuning.time, "process_time", lambda: float(next(ticks)))
    contest = Contest(
        lambda: calls.append("ours") or 1.0,
        lambda: calls.append("theirs") or [1.5, -5.0],
        lambda returned: returned * np.array([1.0, -4.0]),
    )
    values = against(Pair("", "literal", lambda X, y, test: contest), None, None, None)
    assert calls == ["ours", "theirs"] * 4
    assert values == {"ours_seconds": 2.0, "theirs_seconds": 20.0, "difference": 0.2}


def small_problem():
    rng = np.random.default_rng(0)
    x, Y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], size=30)
    return x, Y, np.array([rng.permutation(30)[:6] for _ in range(2)])


def test_table_1_is_that_of_the_literal_twin():
    x, Y, components = small_problem()
    kernel = np.exp(-((x[:, None] - x) ** 2).sum(axis=2))
    G = literal.signed_gram(kernel, Y)
    Ks = [literal.nystrom(G, S) for S in components]
    curve = literal.table_1(Ks, Y, 0.1, 0.7, [0.5, 0.5], 0.4, 6)[4]
    assert table_1(x, Y, components, 0.1, 0.7, 0.4, 6) == pytest.approx(curve[-1], rel=1e-8)


def test_the_printed_form_inverts_once_a_view_and_not_in_every_sweep(monkeypatch):
    """The matrix of Eq. (7) has no index t: what is timed against us is the fair reading."""
    calls, invert = [], np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda A: calls.append(A.shape) or invert(A))
    x, Y, components = small_problem()
    table_1(x, Y, components, 0.1, 0.7, 0.4, 6)
    assert calls == [(31, 31)] * 2


# ----------------------------------------------------------------------------- other programs


def test_a_quick_run_leaves_out_what_is_not_installed(monkeypatch):
    def methods(quick):
        return {job.method for job in speed_peers.peers("iris", quick, None)}

    assert methods(False) == {*speed_peers.OURS, *speed_peers.PEERS}
    here = speed_peers.find_spec
    monkeypatch.setattr(
        speed_peers, "find_spec", lambda name: here(name) if name == "sklearn" else None
    )
    left = methods(False) - methods(True)
    assert left == {name for name, (module, _) in speed_peers.PEERS.items() if module != "sklearn"}
    assert len(list(speed_peers.peers("five-gaussians", False, None))) == 2 * len(methods(False))


@pytest.mark.parametrize("dataset", ["iris", "digits", "five-gaussians"])
def test_what_trains_does_not_test_and_sets_the_scale(dataset):
    X, y, new, labels = speed_peers.problem(dataset, 500, 1)
    assert set(y) == set(labels)
    old = {row.tobytes() for row in X.concat()}
    shared = [row for row in new.concat() if row.tobytes() in old]
    assert len(shared) <= (2 if dataset == "iris" else 0)  # some irises are twins
    for view in X.views:
        assert_allclose(view.mean(axis=0), 0.0, atol=1e-12)
        assert_allclose(view.std(axis=0)[view.std(axis=0) > 0], 1.0)
    again = speed_peers.problem.__wrapped__(dataset, 500, 1)
    assert_array_equal(again[0].concat(), X.concat())


@pytest.mark.parametrize("name", speed_peers.PEERS)
def test_every_peer_learns_iris(name):
    if not speed_peers.installed(name):
        pytest.skip(f"{name} is not installed")
    values = speed_peers.raced("iris", name, measures=(), seed=0)
    assert values["accuracy"] > 0.75 and values["fit_seconds"] > 0


def test_one_machine_a_class_has_the_largest_score():
    """A machine that knows its class by the mean of its samples."""

    def machine(columns, is_class, seed):
        centre = columns[is_class].mean(axis=0)
        return lambda new: -np.abs(new - centre).sum(axis=1)

    X = mvref.MultiView([np.array([[0.0], [10.0], [1.0], [20.0], [11.0]])])
    y = np.array(["a", "c", "a", "b", "c"])
    model = speed_peers.OneMachineAClass(machine, 0).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()


def test_the_best_is_the_fastest_of_the_good_ones():
    seconds = {"SVC": 3.0, "LinearSVC": 1.0, "myFM": 2.0}
    accuracy = {"SVC": 0.95, "LinearSVC": 0.88, "myFM": 0.895}
    names = ["SVC", "LinearSVC", "myFM", "not installed"]
    goals = {0.9: "myFM", 0.85: "LinearSVC", 0.99: "SVC"}
    for goal, name in goals.items():
        assert speed_peers.best_of(names, seconds, accuracy, goal) == name
