"""Groups are used in every internal split of an estimator."""

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import mvref
from mvref import (
    MultiView,
    PatternClassifier,
    PerView,
    PerViewClassifier,
    PerViewRegressor,
    ViewDropout,
)
from mvref.core.voters import folds_of
from mvref.mvm.machine import hold_out
from mvref.rivals import CAPO, MSL, Fusion, Mono

SGD = {"solver": "sgd", "early_stopping": True, "max_iter": 2, "batch_size": 16, "alpha": 0.1}
OWN = {"cv", "train_size", "early_stopping", "validation_fraction", "validation"}
ASKED = []  # pairs: groups that a Spy was trained on, groups that it predicted


class Noting:
    """Mixin that records groups; the first column of a view is the group."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = set(X[:, 0])
        return super().fit(X, y, sample_weight=sample_weight)

    def _noted(self, X):
        ASKED.append((self.seen_, set(X[:, 0])))
        return X

    def predict(self, X):
        return super().predict(self._noted(X))

    def predict_proba(self, X):
        return super().predict_proba(self._noted(X))


class Spy(Noting, DecisionTreeClassifier):
    pass


class SpyOfNumbers(Noting, DecisionTreeRegressor):
    pass


def world(seed=0, n_groups=20, size=4):
    """Draw views: `finger` only identifies the group; `sig` is weakly informative of the class."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    y = groups % 2
    finger = rng.normal(size=(n_groups, 10))[groups] + 0.1 * rng.normal(size=(len(y), 10))
    sig = rng.normal(size=(len(y), 5))
    sig[:, :3] += 0.45 * (2 * y - 1)[:, None]
    return {"finger": finger, "sig": sig}, y, groups


VIEWS, Y, GROUPS = world()
NAMED = {name: np.column_stack([GROUPS, view]) for name, view in VIEWS.items()}
THREE = {**NAMED, "more": NAMED["sig"][:, :3]}
WITH_SPY = {
    "stack": lambda **cv: PerViewClassifier(Spy(), combine=LogisticRegression(), **cv),
    "Mono": lambda **cv: Mono(Spy(), **cv),
    "CAPO": lambda **cv: CAPO("error", auxiliaries=[Spy()], **cv),
    "Fusion": lambda: Fusion(Spy(), random_state=0),
    "reduced": lambda **cv: PatternClassifier(WITH_SPY["stack"](**cv)),
    "PerViewRegressor": lambda **cv: PerViewRegressor(SpyOfNumbers(), combine=Ridge(), **cv),
    "copies": lambda **cv: ViewDropout(WITH_SPY["stack"](**cv), random_state=0),
}
WITHOUT = {
    "MSL": lambda **cv: MSL(**cv),
    "MVMClassifier": lambda: mvref.MVMClassifier(**SGD),
    "MVMRegressor": lambda: mvref.MVMRegressor(**SGD),
}
CV = {"number": 4, "splitter": GroupKFold(4), "one out": LeaveOneGroupOut()}
SPLITS = [
    (name, cv)
    for name in {**WITH_SPY, **WITHOUT}
    for cv in (CV if name not in ("Fusion", "MVMClassifier", "MVMRegressor") else ["number"])
]


def test_every_estimator_with_a_split_of_its_own_takes_groups():
    methods = {
        **mvref.all_methods(),
        **{c.__name__: c for c in (PerViewClassifier, PerViewRegressor)},
    }
    splits = {name for name, method in methods.items() if OWN & set(method().get_params())}
    takes = {n for n, m in methods.items() if "groups" in inspect.signature(m.fit).parameters}
    assert splits == takes
    assert takes == {"PerViewClassifier", "Fusion", *WITHOUT} | WITH_SPY.keys() & takes


def made(name, cv):
    take_cv = name not in ("Fusion", "MVMClassifier", "MVMRegressor")
    return {**WITH_SPY, **WITHOUT}[name](**({"cv": CV[cv]} if take_cv else {}))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "cv"), SPLITS)
def test_no_group_is_on_both_sides(name, cv, monkeypatch):
    made_folds = []

    class Noted(PredefinedSplit):
        def __init__(self, test_fold):
            made_folds.append(test_fold)
            super().__init__(test_fold)

    def noted(codes, rng, groups=None):
        held_out = hold_out(codes, rng, groups)
        made_folds.extend([] if groups is None else [held_out])  # it checks groups itself
        return held_out

    monkeypatch.setattr("mvref.core.voters.PredefinedSplit", Noted)
    monkeypatch.setattr("mvref.mvm.machine.hold_out", noted)
    monkeypatch.setattr("mvref.core.input.fit.warn_if_nothing_learnt", lambda *_: None)
    rows = np.random.default_rng(0).permutation(len(Y))
    X, y, groups = MultiView(THREE)[rows], Y[rows], np.array([f"p{g}" for g in GROUPS[rows]])
    leaves = groups == "p3"  # scattered rows of one group
    for left in [groups] if name == "CAPO" else [groups, groups[~leaves]]:
        made_folds.clear()
        ASKED.clear()
        weights = {} if left is groups else {"sample_weight": np.where(leaves, 0.0, 1.0)}
        model = made(name, cv).fit(X, y, groups=groups, **weights)
        assert made_folds
        for fold in made_folds:
            of_rows = left if len(fold) == len(left) else np.tile(left, 5)  # masked copies
            folds_of_group = [len(set(fold[of_rows == group])) for group in set(left)]
            assert set(folds_of_group) == {1} and len(set(fold)) > 1
        assert bool(ASKED) == (name in WITH_SPY)
        assert not any(trained & asked for trained, asked in ASKED)
    if cv == "number" and name not in WITHOUT:  # without groups, splits cut groups apart
        ASKED.clear()
        model.fit(X, y)
        assert any(trained & asked for trained, asked in ASKED)


def test_copies_of_a_sample_are_a_group_where_nobody_gives_any(monkeypatch):
    monkeypatch.setattr("mvref.core.input.fit.warn_if_nothing_learnt", lambda *_: None)
    each = {name: np.column_stack([np.arange(len(Y)), view]) for name, view in VIEWS.items()}
    ASKED.clear()
    made("copies", "number").fit(each, Y)
    assert not any(trained & asked for trained, asked in ASKED)


def test_a_search_in_a_view_gets_the_groups():
    search = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=LeaveOneGroupOut())
    stack = PerViewClassifier(search, combine="vote").fit(VIEWS, Y, groups=GROUPS)
    assert stack.estimators_["sig"].n_splits_ == 20
    assert Mono(search).fit(VIEWS, Y, groups=GROUPS).estimator_.n_splits_ == 20
    model = Fusion(search, final_estimator=search, random_state=0).fit(VIEWS, Y, groups=GROUPS)
    assert [one.n_splits_ for one in (*model.estimators_, model.final_estimator_)] == [12, 12, 8]


@pytest.mark.parametrize(
    ("model", "groups", "told"),
    [
        (Mono(cv=GroupKFold(3)), None, r"cv=GroupKFold.* cannot split.*fit\(X, y, groups=...\)"),
        (Mono(cv=ShuffleSplit(3)), None, "cv must hold out every sample once"),
        (Mono(cv="five"), None, "cv must be an integer >= 2 or a splitter of scikit-learn"),
        (Mono(), GROUPS[:-1], "groups has 79 labels, but X has 80 samples"),
        (Mono(), np.zeros(80), "at least 2 groups"),
        (Mono(), [None, *GROUPS[1:]], "groups must have a label for every sample"),
        (Mono(), np.zeros((80, 2)), "groups should be a 1d array"),
        (Mono(), [np.nan, *GROUPS[1:]], "groups must have a label for every sample"),
        (Fusion(), Y, "Fusion needs groups of every class on its two levels.*PerViewClassifier"),
    ],
)
def test_what_cannot_be_split_is_refused(model, groups, told):
    with pytest.raises(ValueError, match=told):
        model.fit(VIEWS, Y, groups=groups)


def test_there_are_no_more_folds_than_samples_of_a_class():
    fold = folds_of(5, np.arange(6) % 2, np.random.RandomState(0), np.arange(6)).test_fold
    assert np.bincount(fold).tolist() == [2, 2, 2]


@pytest.mark.parametrize(("share", "n_first"), [(0.01, 2), (0.6, 12), (0.99, 18)])
def test_fusion_leaves_groups_to_both_levels(share, n_first):
    """Check tenths of the groups; each level has at least one group."""
    model = Fusion(train_size=share, random_state=0).fit(VIEWS, Y, groups=GROUPS)
    first, second = (set(GROUPS[rows]) for rows in (model.view_rows_, model.final_rows_))
    assert len(first) == n_first and not first & second and first | second == set(GROUPS)


def test_groups_are_routed_without_being_asked_for_and_make_a_stack_right():
    """Check visits of patients: folds that split patients select identity, not the illness."""
    svm = make_pipeline(StandardScaler(), SVC(C=10.0))
    stack = PerViewClassifier(svm, combine=LogisticRegression(), random_state=0)
    scores = {"with": [], "without": []}
    for seed in range(2):
        X, y, groups = world(seed, 40, 8)
        X = MultiView(X)
        outer = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
        model = make_pipeline(PerView(), stack)
        with config_context(enable_metadata_routing=True):
            told = {"params": {"groups": groups}, "cv": outer}
            scores["with"] += [*cross_val_score(model, X, y, **told)]
            assert GridSearchCV(model, {"perviewclassifier__cv": [3, GroupKFold(3)]}, cv=outer).fit(
                X, y, groups=groups
            )
        scores["without"] += [*cross_val_score(model, X, y, groups=groups, cv=outer)]
        named = {"perviewclassifier__groups": groups}
        by_name = cross_val_score(model, X, y, groups=groups, cv=outer, params=named)
        np.testing.assert_array_equal(by_name, scores["with"][-5:])
    assert np.mean(scores["with"]) > np.mean(scores["without"]) + 0.1
