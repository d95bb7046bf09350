"""Ids: labels, weights and groups of other ids than X are refused, or right, at every entry."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, cross_val_score, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mvref import (
    MVLSVM,
    LandmarkProjection,
    MultiView,
    MVMClassifier,
    MVMRegressor,
    PerView,
    PerViewClassifier,
    all_methods,
    fit_in_chunks,
    view_importance,
)
from mvref.rivals import LaplacianCompletion, PerViewSVM
from tests.literal import toy_views

(A, B), Y = toy_views(2, m=40, widths=(3, 2))
IDS = pd.Index([f"p{i}" for i in np.random.default_rng(0).permutation(40)])
FRAMES = {"a": pd.DataFrame(A, IDS, list("abc")), "b": pd.DataFrame(B, IDS, list("de"))}
NUMERIC = pd.Index(IDS.str[1:].astype(int))
TURNED = np.random.default_rng(1).permutation(40)
CUT = {"a": list("abc"), "b": list("de")}
FORMS = {  # of the same samples
    "MultiView": MultiView(FRAMES),
    "one frame": pd.concat(FRAMES.values(), axis=1),
    "cut MultiView": MultiView({name: frame.iloc[::-1] for name, frame in FRAMES.items()})[::-1],
    "mapping": FRAMES,
    "two levels": pd.concat(FRAMES, axis=1),
}
WAYS = {  # of what is given for every sample -> the same of other ids, and what is said of it
    "permuted": (lambda s: s.iloc[TURNED], "another order: {0} = {0}.loc.X.index"),
    "superset": (lambda s: pd.concat([s, s[:3].set_axis(list("xyz"))]), "more ids than X"),
    "subset": (lambda s: s[:-3], "not all ids of X, .* X = X"),
    "subset, filled up": (lambda s: s.set_axis([*IDS[:-1], "x"]), "not all ids of X, 'p"),
    "twice": (lambda s: s.set_axis(IDS[[*range(39), 0]]), "more than once, so they cannot"),
    "numbers": (lambda s: s.set_axis(NUMERIC + 100), "other ids than X"),
    "others": (lambda s: s.set_axis("q" + IDS), "other ids than X, such as 'q"),
    "right": (lambda s: s, None),
    "no ids": (lambda s: s.reset_index(drop=True), None),
    "an array": (lambda s: s.to_numpy(), None),
}
MODEL = PerViewClassifier(DecisionTreeClassifier(max_depth=2, random_state=0))
SQUARED = MVLSVM(10, loss="squared_hinge", random_state=0)
STREAM = {"solver": "sgd", "random_state": 0}


def fitted(estimator, X):
    """An estimator that knows the samples in this form, and cuts a table of one level."""
    cut = hasattr(X, "iloc") and X.columns.nlevels == 1
    return estimator.set_params(views=CUT if cut else None)


def across(X, y, w):
    given = {"params": {"sample_weight": w}, "error_score": "raise", "cv": 3}
    return cross_validate(fitted(MODEL, X), X, y, **given)["test_score"]


ENTRIES = {  # what is asked of X, y, weights -> an answer
    "fit": lambda X, y, w: fitted(PerViewSVM(), X).fit(X, y, sample_weight=w).decision_function(X),
    "PerViewClassifier": lambda X, y, w: fitted(MODEL, X).fit(X, y, w).predict_proba(X),
    "score": lambda X, y, w: fitted(MODEL, X).fit(X, Y).score(X, y, w),
    "cross_validate": across,
    "PerView": lambda X, y, w: fitted(PerView(StandardScaler()), X).fit(X, y).transform(X).concat(),
    "pipeline": lambda X, y, w: (
        make_pipeline(fitted(PerView(), X), LandmarkProjection(9, random_state=0), SQUARED)
        .fit(X, y).score(X, y)
    ),
    "completion": lambda X, y, w: fitted(LaplacianCompletion(), X).fit_transform(X, y).concat(),
    "regressor": lambda X, y, w: (
        fitted(MVMRegressor(2, random_state=0), X).fit(X, y, w).score(X, y)
    ),
    "partial_fit": lambda X, y, w: (
        fitted(MVMClassifier(2, **STREAM), X).partial_fit(X, y, [0, 1], w).decision_function(X)
    ),
    "partial_fit of numbers": lambda X, y, w: (
        fitted(MVMRegressor(2, **STREAM), X).partial_fit(X, y, w).predict(X)
    ),
    "fit_in_chunks": lambda X, y, w: (
        fit_in_chunks(fitted(SQUARED, X), lambda: [(X, y)]).decision_function(X)
    ),
    "view_importance": lambda X, y, w: (
        view_importance(fitted(MODEL, X).fit(X, Y), X, y).score
    ),
}  # fmt: skip
NOT_TAKEN = ("view_importance", "one frame")
PAIRS = [pair for pair in product(ENTRIES, ("MultiView", "one frame")) if pair != NOT_TAKEN]
PAIRS += [("fit", "cut MultiView"), ("fit", "mapping"), ("score", "two levels")]
PAIRS += [("PerView", "two levels"), ("view_importance", "mapping")]
UNWEIGHTED = ("PerView", "pipeline", "completion", "fit_in_chunks", "view_importance")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("entry", "form"), PAIRS)
def test_never_by_position_in_silence(entry, form):
    X, one_table = FORMS[form], form in ("one frame", "two levels")
    right = {"y": pd.Series(Y, IDS), "sample_weight": pd.Series(1.0 + (Y == 1), IDS)}
    expected = ENTRIES[entry](X, *right.values())
    for name in ("y",) if entry in UNWEIGHTED else right:
        for way, (change, told) in WAYS.items():
            given = right | {name: change(right[name])}
            if told is None:
                assert_array_equal(ENTRIES[entry](X, *given.values()), expected, way)
            elif way == "numbers" and one_table:  # as they are in a fold of a table without ids
                with pytest.warns(UserWarning, match=f"{name} is taken by position"):
                    ENTRIES[entry](X, *given.values())
            else:  # a fold has some of the ids only
                told = "ids|inconsistent numbers" if entry == "cross_validate" else told
                with pytest.raises(ValueError, match=told.format(name)):
                    ENTRIES[entry](X, *given.values())


@pytest.mark.filterwarnings("ignore:y is taken by position")
@pytest.mark.parametrize("form", ["MultiView", "one frame"])
@pytest.mark.parametrize("cv", [3, ShuffleSplit(3, random_state=0)])
def test_folds_of_a_default_range(form, cv):
    """Its rows have positions for ids, which those of X are not."""
    X, y = FORMS[form], pd.Series(Y)
    expected = cross_val_score(fitted(MODEL, X), X, Y, cv=cv)
    assert_array_equal(cross_val_score(MODEL, X, y, cv=cv), expected)
    MODEL.set_params(views=None)
    bare = MultiView({name: frame.reset_index(drop=True) for name, frame in FRAMES.items()})
    for labels in (y, y.set_axis(IDS)):
        assert_array_equal(cross_val_score(MODEL, bare, labels, cv=cv), expected)
    with pytest.raises(ValueError, match="y has the ids of X in another order"):
        MODEL.fit(bare, y[TURNED])


def test_groups_have_ids():
    """Of a patient's visits, say, which the folds of a stack must not tear apart."""
    groups = pd.Series(np.arange(40) // 2, IDS)
    stack = PerViewClassifier(combine=LogisticRegression(), cv=3, random_state=0)
    expected = stack.fit(FRAMES, Y, groups=groups).predict_proba(FRAMES)
    for change, told in WAYS.values():
        if told is None:
            same = stack.fit(FRAMES, Y, groups=change(groups)).predict_proba(FRAMES)
            assert_array_equal(same, expected)
        else:
            with pytest.raises(ValueError, match="groups has .*X"):
                stack.fit(FRAMES, Y, groups=change(groups))


def test_the_ids_go_with_the_samples():
    X = FORMS["MultiView"]
    hidden = X.drop_views(0.3, random_state=0)
    for table in (X, hidden, X.select("b"), PerView(StandardScaler()).fit_transform(X)):
        for rows in (slice(5, 20, 2), TURNED, Y == 1, [3]):
            assert_array_equal(table[rows].index, IDS[rows])
        assert_array_equal(table[TURNED][::-1].index, IDS[TURNED[::-1]])
    train, test = train_test_split(X, random_state=0)
    assert {*train.index, *test.index} == set(IDS)
    assert_array_equal(MultiView.from_array(FORMS["one frame"], CUT).index, IDS)
    assert MultiView([A, B]).index is None


# ------------------------------------------------------------------ joins

B_OF = FRAMES["b"]
REFUSED = {  # views, what MultiView says of them, and what `align`
    "order": (B_OF[::-1], "'b' has in another order the ids of 'a'.*reindex.*align", None),
    "fewer": (B_OF[:-2], "'b' has not all ids of 'a'", None),
    "twice": (B_OF.set_axis(IDS[[*range(39), 0]]), "some ids more than once", "'b' has the id 'p"),
    "texts": (pd.Series("x", IDS[::-1]), "'b' has in another order", None),
    "others": (
        B_OF.set_axis("q" + IDS),
        "none of the ids of 'a'",
        "no key of a is in another table",
    ),
    "an array": (B, None, "'b' has no ids.*set_index"),
    "a range": (pd.DataFrame(B), "'b' has none of the ids", "'b' has no ids.*set_index"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_views_of_other_ids(case):
    view, told, told_by_align = REFUSED[case]
    views = {"a": FRAMES["a"], "b": view}
    for build, sentence in ((MultiView, told), (MultiView.align, told_by_align)):
        if sentence is None:
            assert build(views)
        else:
            with pytest.raises(ValueError, match=sentence):
                build(views)


def test_ids_that_are_numbers_here_and_texts_there():
    frames = FRAMES["a"].set_axis(NUMERIC), B_OF.set_axis(NUMERIC.astype(str))
    for build in (MultiView, MultiView.align):
        with pytest.raises(ValueError, match=r"astype\(str\)"):
            build(frames)
    with pytest.raises(ValueError, match=r"y has ids of another type.*astype\(str\)"):
        MODEL.set_params(views=None).fit(frames[:1], pd.Series(Y, NUMERIC.astype(str)))


def annotated(frame, kind, **layers):
    return SimpleNamespace(
        X=kind(frame.to_numpy()), obs_names=frame.index, var_names=frame.columns, layers=layers
    )


def modalities():
    """Two of them, sparse and dense, of which each lacks some samples, with all ids."""
    a, b = FRAMES["a"][:30], B_OF.iloc[TURNED][5:]
    first = annotated(a, sparse.csr_matrix, log=np.log1p(np.abs(a.to_numpy())))
    return SimpleNamespace(mod={"a": first, "b": annotated(b, np.array)}, obs_names=IDS), a, b


def real_modalities():
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    like, a, b = modalities()
    parts = {
        name: anndata.AnnData(
            part.X, pd.DataFrame(index=part.obs_names), pd.DataFrame(index=part.var_names),
            layers=part.layers,
        )
        for name, part in like.mod.items()
    }  # fmt: skip
    return mudata.MuData(parts), a, b


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", [modalities, real_modalities])
def test_modalities_are_views(made, capsys):
    data, a, b = made()
    X, index = MultiView.align(data)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "a: 30 rows, in 30 of 40 samples; 10 without this view",
        "b: 35 rows, in 35 of 40 samples; 5 without this view",
    ]
    assert set(index) == set(IDS) and X.index is index and X.feature_names == [[*"abc"], [*"de"]]
    assert sparse.issparse(X.views[0]) and X.views[0].format == "csr"
    assert_array_equal(X.views[0].toarray(), a.reindex(index))
    assert_array_equal(X.views[1], b.reindex(index))
    layered, _ = MultiView.align(data, layer={"a": "log"}, verbose=False)
    assert_array_equal(layered.views[0], np.log1p(np.abs(a)).reindex(index))
    inner, both = MultiView.align(data, "inner", verbose=False)
    assert inner.observed.all() and set(both) == set(a.index) & set(b.index)
    for wrong, told in ({"layer": "log"}, "'b' has no layer 'log'"), ({"how": "left"}, "'inner'"):
        with pytest.raises(ValueError, match=told):
            MultiView.align(data, **wrong)
    y = pd.Series(Y, IDS)
    model = MODEL.set_params(views=None).fit(data, y[index])
    expected = model.predict_proba(X)
    assert_array_equal(model.predict_proba(data), expected)
    assert_array_equal(clone(model).fit(X, y[index]).predict_proba(X), expected)
    with pytest.raises(ValueError, match="y has the ids of X in another order"):
        model.fit(data, y.sort_index()[::-1])
    one = data.mod["a"]
    assert_array_equal(MultiView({"a": one, "a too": one}).index, a.index)
    with_one = model.predict({"a": one})
    assert_array_equal(with_one, model.predict({"b": None, "a": a}))
    alone = clone(model).fit(one, Y[:30])
    assert_array_equal(alone.predict(one), alone.predict({"view_0": a}))


def test_align_frames_and_series():
    texts = pd.Series(["x", "y"], ["p3", "new"])
    views = {"a": FRAMES["a"], "d": B_OF["d"][3:5], "t": texts}
    X, index = MultiView.align(views, verbose=False)
    assert [*index] == [*IDS, "new"] and X.names == ["a", "d", "t"]
    assert X.observed.sum(axis=0).tolist() == [40, 2, 2] and X.feature_names[1] == ["d"]
    assert X[index == "new"].views[2].tolist() == ["y"]
    disjoint = {"a": FRAMES["a"][:20], "b": B_OF[20:]}
    with pytest.raises(ValueError, match="no key of a is in another table"):
        MultiView.align(disjoint, verbose=False)
    with pytest.raises(ValueError, match="how='inner' leaves no sample"):
        MultiView.align({**disjoint, "all": FRAMES["a"]}, "inner", verbose=False)


GAPS = [None, np.nan, pd.NA, pd.NaT, " "]
WITHOUT = [pd.Index(["x", gap, "z"], dtype=object) for gap in GAPS]
WITHOUT += [pd.Index([1.0, np.nan, 3.0]), pd.to_datetime(["2026-01-05", None, "2026-01-07"])]
WITHOUT += [pd.MultiIndex.from_tuples([("x", 1), ("y", None), ("z", 1)])]


@pytest.mark.parametrize("index", WITHOUT)
def test_a_row_without_an_id_is_refused(index):
    """Else two patients whose ids are gaps would be one."""
    frames = {name: frame[:3].set_axis(index) for name, frame in FRAMES.items()}
    with pytest.raises(ValueError, match="'a' has no id in 1 of its rows, the first is row 2"):
        MultiView.align(frames, verbose=False)


def test_blanks_and_unicode_forms_are_no_differences():
    """As in the tables of a folder; in ids of several parts, too."""
    written = ["Å1", "x ", "z"], ["\tx", "A\N{COMBINING RING ABOVE}1 ", "y"]
    for make in (list, lambda ids: pd.MultiIndex.from_product([ids, [1]])):
        pairs = zip(FRAMES.values(), written, strict=True)
        views = [frame[:3].set_axis(make(keys)) for frame, keys in pairs]
        X, index = MultiView.align(views, verbose=False)
        assert [*index] == [*pd.Index(make(["Å1", "x", "z", "y"]))]
        assert_array_equal(X.views[1][:, 0], [B[1, 0], B[0, 0], np.nan, B[2, 0]])
        annotations = MultiView.align([annotated(v, np.array) for v in views], verbose=False)[0]
        assert_array_equal(annotations.concat(), X.concat())
    with pytest.raises(ValueError, match="'view_0' has the id 'x' more than once"):
        MultiView.align([FRAMES["a"][:2].set_axis(["x", " x"]), B_OF], verbose=False)


SPELLINGS = [("099", "99"), ("A 1", "a1"), ("p-07", "P-7"), ("①", "1"), (("p1", 1), ("P1", 1))]
DIFFERENT = [("1 11", "11 1"), ("0.1", "0.01"), ("100", "10"), ("p1", "q1"), (9, 99)]


@pytest.mark.parametrize("pair", SPELLINGS + DIFFERENT)
def test_ids_that_may_be_one_are_named(pair, recwarn):
    both = pd.Index(["shared", *pair], tupleize_cols=False)
    MultiView.align([FRAMES["a"][:2].set_axis(both[:2]), B_OF[:2].set_axis(both[::2])])
    told = [str(warning.message) for warning in recwarn]
    if pair in DIFFERENT:
        assert not told
    else:
        assert len(told) == 1 and f"{pair[0]!r} and {pair[1]!r}" in told[0]
        assert recwarn[0].filename == __file__


def test_a_column_of_ids():
    frames = {name: frame.reset_index(names="id") for name, frame in FRAMES.items()}
    X, index = MultiView.align(frames, key="id", verbose=False)
    assert_array_equal(X.concat(), MultiView(FRAMES).concat())
    assert_array_equal(index, IDS)
    with pytest.raises(ValueError, match="key='sample' must be a column of view 'a', got .'id'"):
        MultiView.align(frames, key="sample")


# ------------------------------------------------------------------ views that are not given


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [name for name, c in all_methods().items() if hasattr(c, "predict")]
)
def test_a_view_that_is_not_given_is_missing(name):
    model = all_methods()[name]().fit(FRAMES, Y)
    expected = model.predict({"a": FRAMES["a"], "b": B_OF * np.nan})
    new = {"a": FRAMES["a"]}
    for X in (new, new | {"b": None}, {"b": None, **new}, [FRAMES["a"], None], MultiView(new)):
        assert_array_equal(model.predict(X), expected)
    for X, told in (({"c": A}, "'c'"), ([A], "2 views"), ({"a": None, "b": None}, "None")):
        with pytest.raises(ValueError, match=told):
            model.predict(X)


def test_other_packets_of_views():
    expected = MODEL.set_params(views=None).fit(FRAMES, Y).predict_proba(FRAMES)
    for packed in (lambda: (view for view in (A, B)), lambda: {"a": A, "b": B}.values()):
        assert_array_equal(MODEL.fit(packed(), Y).predict_proba(packed()), expected)
    two_levels = FORMS["two levels"].sample(frac=1, axis=1, random_state=0)
    MODEL.fit(FORMS["two levels"], Y)
    assert MODEL.view_names_ == ["a", "b"] and MODEL.view_feature_names_ == [[*"abc"], [*"de"]]
    with pytest.raises(ValueError, match="same names in another order"):
        MODEL.predict(two_levels)
    for call in (MultiView, lambda X: MODEL.fit(X, Y)):
        with pytest.raises(ValueError, match="list"):
            call(np.stack([A, A]))
