"""What ``_fit`` of a method may rely on, clause by clause as :mod:`mvref.core.input` states it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mvref import MultiView
from mvref.core.base import MultiViewClassifier
from mvref.core.input import Weighted

FULL, Y = np.hstack([np.arange(12.0).reshape(6, 2), np.arange(18).reshape(6, 3)]), list("qqpprr")
HIDDEN = np.zeros((6, 5), dtype=bool)
HIDDEN[1, :2] = HIDDEN[4, 2:] = True
FLAT = np.where(HIDDEN, np.nan, FULL)
MASKED, NULLABLE = np.ma.masked_array(FULL, HIDDEN), pd.DataFrame(FLAT).astype("Int64")
FRAME = pd.DataFrame(FLAT, columns=list("abcde"))
A, B = FLAT[:, :2], FLAT[:, 2:]
SPARSE = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
FORMS = {  # of one table, and the parameter views
    "MultiView": (MultiView([A, B])[np.arange(6)], None),
    "MultiView and widths": (MultiView([A, B]), [2, 3]),
    "lists": ([A.tolist(), B.tolist()], None),
    "mapping": ({"p": A.astype("f4"), "q": sparse.csc_matrix(B)}, None),
    "objects": ((A.astype(object), B), None),
    "frames": ([FRAME[["a", "b"]], FRAME[["c", "d", "e"]]], None),
    "nullable frames": ([NULLABLE[[0, 1]], NULLABLE[[2, 3, 4]]], None),
    "masked views": ([MASKED[:, :2], MASKED[:, 2:]], None),
    "cut from a nullable frame": (MultiView.from_array(NULLABLE, [2, 3]), None),
    "cut from a masked array": (MultiView.from_array(MASKED, [2, 3]), None),
    "whole numbers": (FULL.astype(int), [2, 3]),
    "masked, nothing hidden": (np.ma.masked_array(FULL, False), [2, 3]),
    "flat": (FLAT, [2, 3]),
    "flat list": (FLAT.tolist(), [2, 3]),
    "flat frame": (FRAME, [["a", "b"], ["c", "d", "e"]]),
    "flat nullable frame": (NULLABLE, [2, 3]),
    "flat masked": (MASKED, [2, 3]),
    **{f"flat {kind}_array": (getattr(sparse, f"{kind}_array")(FLAT), [2, 3]) for kind in SPARSE},
    **{f"flat {kind}_matrix": (getattr(sparse, f"{kind}_matrix")(FLAT), [2, 3]) for kind in SPARSE},
}
LEFT_OUT = [1, 1, 2, 1, 0, 0]  # all of class "r"
WEIGHTS = [(None, None), (None, "balanced"), (LEFT_OUT, None), (np.float32(LEFT_OUT), {"q": 3})]


def dense(X):
    flat = X.concat()
    return flat.toarray() if sparse.issparse(flat) else flat


class Method(Weighted, MultiViewClassifier):
    _learnt = "classes_"

    def __init__(self, views=None, class_weight=None):
        self.views, self.class_weight, self.checked = views, class_weight, False

    def _check_parameters(self):
        self.checked = True

    def _fit(self, X, codes, weights):
        for view, seen in zip(X.views, X.observed.T, strict=True):
            assert view.dtype == np.float64 and isinstance(view, np.ndarray | sparse.csr_matrix)
            stored = view.data if sparse.issparse(view) else view
            assert not stored.flags.writeable
            assert np.isnan(stored).sum() == view.shape[1] * np.sum(~seen)
        assert X.observed.any(axis=1).all() and X.names == self.view_names_
        assert len(codes) == len(X) and set(codes) == set(range(len(self.classes_)))
        assert weights is None or (len(weights) == len(X) and (weights > 0).all())
        assert self.checked
        self.learnt = dense(X)

    def _scores(self, X):
        self.scored = dense(X)
        return np.arange(len(X) * len(self.classes_)).reshape(len(X), -1) % 5


@pytest.mark.parametrize(("weights", "class_weight"), WEIGHTS)
@pytest.mark.parametrize("form", FORMS)
def test_the_contract(form, weights, class_weight):
    table, views = FORMS[form]
    model = Method(views, class_weight).fit(table, Y, sample_weight=weights)
    assert len(model.classes_) == (3 if weights is None else 2) and model.n_features_in_ == 5
    expected = FULL if form in ("whole numbers", "masked, nothing hidden") else FLAT
    assert_array_equal(model.learnt, expected[: 6 if weights is None else 4])
    turned = {"q": table["q"], "p": table["p"]} if form == "mapping" else table
    for new, told in ((turned, expected), (FLAT, FLAT), ([A, B], FLAT)):
        model.predict(new)
        assert_array_equal(model.scored, told)
