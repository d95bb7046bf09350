"""What ``_fit`` of a method may rely on, clause by clause as :mod:`mvref.core.input` states it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from mvref import MultiView
from mvref.core.base import MultiViewClassifier
from mvref.core.input import Weighted

A, B = np.arange(12).reshape(6, 2), np.arange(1.0, 19).reshape(6, 3)
GAP, NO_B = np.where(np.eye(6)[:, [1]], np.nan, A), np.where(np.eye(6)[:, [4]], np.nan, B)
Y = np.array(list("qqpprr"))
FRAMES = {"a": pd.DataFrame(GAP, columns=["x", "y"]), "b": sparse.coo_matrix(NO_B)}
FORMS = {
    "integers": [A, A.tolist()],
    "a view each": [GAP, NO_B],
    "sparse": [sparse.csc_matrix(GAP.astype("f4")), NO_B],
    "frames": FRAMES,
    "rows": MultiView(FRAMES)[np.arange(6)],
    "flat": np.hstack([GAP, NO_B]),
}
LEFT_OUT = [1, 1, 2, 1, 0, 0]  # all of class "r"
WEIGHTS = [(None, None), (None, "balanced"), (LEFT_OUT, None), (np.float32(LEFT_OUT), {"q": 3})]


class Method(Weighted, MultiViewClassifier):
    _learnt = "classes_"

    def __init__(self, views=None, class_weight=None):
        self.views, self.class_weight, self.checked = views, class_weight, False

    def _check_parameters(self):
        self.checked = True

    def _fit(self, X, codes, weights):
        for view, seen in zip(X.views, X.observed.T, strict=True):
            assert view.dtype == np.float64 and isinstance(view, np.ndarray | sparse.csr_matrix)
            assert not (view.data if sparse.issparse(view) else view).flags.writeable
            dense = view.toarray() if sparse.issparse(view) else view
            assert np.isfinite(dense[seen]).all() and np.isnan(dense[~seen]).all()
        assert X.observed.any(axis=1).all() and X.names == self.view_names_
        assert len(codes) == len(X) and set(codes) == set(range(len(self.classes_)))
        assert weights is None or (len(weights) == len(X) and (weights > 0).all())
        assert self.checked
        pools = threadpool_info()
        assert {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"} <= {1}

    def _scores(self, X):
        assert X.names == self.view_names_ and X.widths == self.view_widths_
        return np.arange(len(X) * len(self.classes_)).reshape(len(X), -1) % 5


@pytest.mark.parametrize(("weights", "class_weight"), WEIGHTS)
@pytest.mark.parametrize("form", FORMS)
def test_the_contract(form, weights, class_weight):
    X = FORMS[form]
    model = Method([2, 3] if form == "flat" else None, class_weight)
    with threadpool_limits(2, user_api="blas"):
        model.fit(X, Y, sample_weight=weights)
    assert len(model.classes_) == (3 if weights is None else 2)
    if form == "frames":
        model.predict({"b": X["b"], "a": X["a"]})
