"""Column names, end to end: what was learnt from one column is never applied to another.

Every form of a table with named columns x every change of a view's columns, for every method at
least one of both: the call is refused, and the message names the view and the columns.
"""

import functools
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvref import MVNAKMHKS, MultiView, PerView
from tests.literal import toy_views
from tests.test_api import IN_FULL, METHODS, output, with_seed

VIEWS, Y = toy_views(0, m=40, widths=[3, 2])
FRAMES = {
    "blood": pd.DataFrame(VIEWS[0], columns=["iron", "zinc", "salt"]),
    "pulse": pd.DataFrame(VIEWS[1], columns=["rest", "sport"]),
}
COLUMNS = {name: list(frame) for name, frame in FRAMES.items()}
FORMS = {
    "MultiView": MultiView,
    "list": lambda frames: list(frames.values()),
    "mapping": dict,
    "flat": lambda frames: pd.concat(list(frames.values()), axis=1),
}
CHANGES = {
    "permuted": lambda blood: blood[["salt", "zinc", "iron"]],
    "renamed": lambda blood: blood.rename(columns={"iron": "gold"}),
    "one missing": lambda blood: blood.drop(columns="zinc"),
    "one added": lambda blood: blood.assign(gold=1.0),
}
TOLD = {"permuted": "another order", "renamed": "gold", "one missing": "zinc", "one added": "gold"}


@functools.cache
def fitted(name, form):
    views = {"views": COLUMNS} if form == "flat" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return with_seed(name, **views).fit(FORMS[form](FRAMES), Y)


OTHERS = [name for name in METHODS if name not in IN_FULL]


@pytest.mark.parametrize(
    ("name", "form", "change"),
    [*product(IN_FULL, FORMS, CHANGES), *product(OTHERS, ["mapping"], ["permuted"])],
)
def test_other_columns_are_refused(name, form, change):
    model = fitted(name, form)
    changed = FORMS[form]({**FRAMES, "blood": CHANGES[change](FRAMES["blood"])})
    with pytest.raises(ValueError, match="feature names|names and the order of fit") as told:
        output(model, changed)
    if form != "flat":
        named = {"list": "view_0"}.get(form, "blood")
        assert f"view {named!r}" in str(told.value)
        assert TOLD[change] in str(told.value)


@pytest.mark.parametrize(
    ("name", "form"), [*product(IN_FULL, FORMS), *product(OTHERS, ["mapping"])]
)
def test_the_same_columns_give_the_same_answer_in_every_form(name, form):
    """Check a model fitted on a MultiView with new data in any form: views are matched by name."""
    model = fitted(name, "MultiView")
    turned = FRAMES if form in ("flat", "list") else {n: FRAMES[n] for n in ("pulse", "blood")}
    expected = output(model, MultiView(FRAMES))
    assert_allclose(output(model, FORMS[form](turned)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_names_on_one_side_only_are_told(name):
    model = fitted(name, "MultiView")
    with pytest.warns(UserWarning, match=r"\['blood', 'pulse'\] have no names"):
        output(model, MultiView(VIEWS, names=["blood", "pulse"]))
    with pytest.warns(UserWarning, match="have no names") as told:
        output(model, np.hstack(VIEWS))
    assert len(told) == 1  # also where an estimator calls its own parts


def test_an_estimator_without_names_tells_of_names():
    model = MVNAKMHKS(random_state=0).fit(VIEWS, Y)
    with pytest.warns(UserWarning, match="have names, but MVNAKMHKS was fitted without them"):
        model.predict(MultiView(list(FRAMES.values())))


def test_a_new_fit_learns_new_names():
    model = MVNAKMHKS(random_state=0).fit(FRAMES, Y)
    other = {**FRAMES, "blood": CHANGES["renamed"](FRAMES["blood"])}
    model.fit(other, Y).predict(other)
    assert model.view_feature_names_ == [["gold", "zinc", "salt"], ["rest", "sport"]]


def test_per_view_keeps_names_and_checks_them():
    scaler = PerView({"blood": StandardScaler(), "pulse": PCA(1)}).fit(FRAMES)
    out = scaler.transform(FRAMES)
    assert out.feature_names == [COLUMNS["blood"], ["pca0"]]
    assert list(scaler.get_feature_names_out())[1:4] == [
        "blood__zinc",
        "blood__salt",
        "pulse__pca0",
    ]
    for change in CHANGES.values():
        with pytest.raises(ValueError, match="'blood'"):
            scaler.transform({**FRAMES, "blood": change(FRAMES["blood"])})


def test_in_a_pipeline_the_names_go_through():
    model = make_pipeline(PerView(StandardScaler()), MVNAKMHKS(random_state=0)).fit(FRAMES, Y)
    assert model[-1].view_feature_names_ == list(COLUMNS.values())
    with pytest.raises(ValueError, match="same names in another order"):
        model.predict({**FRAMES, "blood": CHANGES["permuted"](FRAMES["blood"])})


def test_a_multiview_keeps_names():
    X = MultiView(FRAMES)
    assert X.feature_names == list(COLUMNS.values())
    for part in (X[:3], X[np.arange(5)], X.drop_views(0.2, random_state=0)):
        assert part.feature_names == X.feature_names
    assert X.select("pulse").feature_names == [COLUMNS["pulse"]]
    cut = MultiView.from_array(FORMS["flat"](FRAMES), [3, 2], names=["blood", "pulse"])
    assert cut.feature_names == X.feature_names
    given = MultiView(VIEWS, feature_names={"view_1": ["rest", "sport"]})
    assert given.feature_names == [None, ["rest", "sport"]]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([["a", "b", "c"]], "one entry per view, 2, got 1"),
        ([["a", "b"], None], "view 'view_0' has 3 columns, but 2 names"),
        ([["a", "b", "a"], None], r"several columns of one name: \['a'\]"),
        ({"blood": ["a"]}, r"feature_names has the views \['blood'\]"),
    ],
)
def test_wrong_names_are_refused(given, told):
    with pytest.raises(ValueError, match=told):
        MultiView(VIEWS, feature_names=given)


def test_names_of_two_kinds_are_refused():
    with pytest.raises(ValueError, match="some are named by texts"):
        MultiView([pd.DataFrame(VIEWS[0], columns=["a", 1, 2])])
    assert MultiView([pd.DataFrame(VIEWS[0])]).feature_names == [None]
