"""The cutting planes of the one page: as long as promised, as mvref's, and as their formulas."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from mvref import MVPO, PerView
from mvref.datasets import load_iris_views, load_mfeat
from tests import literal_mvpo as literal
from tests.one_page import from_scratch

PAGE = from_scratch("mvpo")
MFEAT = (load_mfeat, 3, ["mor", "zer"])
IRIS = (load_iris_views, 1, ["sepal", "petal"])
SEARCHES = {name: PAGE[f"worst_for_{name}"] for name in ("f1", "prbep", "auroc")}
LOSSES = {"f1": literal.f_beta_loss, "prbep": literal.prbep_loss, "auroc": None}


def one_against_rest(load, positive, names, n=120):
    """Standardised views of some samples, and their labels -1 and +1."""
    data = load()
    rows = np.random.default_rng(0).permutation(len(data.y))[:n]
    X = PerView(StandardScaler()).fit_transform(data.X.select(names)[rows])
    return X, np.where(data.y[rows] == positive, 1, -1)


def drawn(seed, n, decimals):
    """Scores, with ties if there are few decimals, and labels of both classes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < rng.integers(1, n), 1, -1)
    return (rng.normal(size=n) * rng.choice([0.05, 0.3, 1.0])).round(decimals), y


@pytest.mark.parametrize("data", [MFEAT, IRIS], ids=["mfeat", "iris"])
@pytest.mark.parametrize("measure", SEARCHES)
@pytest.mark.parametrize("c1", [0.0, 0.1, 10.0])
def test_it_ends_where_the_class_ends(data, measure, c1):
    X, y = one_against_rest(*data)
    pairs = np.sum(y > 0) * np.sum(y < 0)
    C2 = 10 / pairs**2 if measure == "auroc" else 100 / len(y) ** 2
    C1 = c1 / len(y)
    model = MVPO(measure, C1=C1, C2=C2, normalize=False, tol=1e-12, max_iter=5000).fit(X, y)
    tables = PAGE["with_constant"](X.views)
    w, lowest = PAGE["fit"](tables, y, C1, C2, 1e-8, SEARCHES[measure])
    assert lowest == pytest.approx(model.primal_curve_.min(), rel=1e-6, abs=0)
    theirs = sum(X_j @ w_j for X_j, w_j in zip(X.views, model.coef_, strict=True))
    theirs += model.view_intercepts_.sum()  # without the threshold that rankings get
    assert np.abs(np.hstack(tables) @ w - theirs).max() < 2e-4 * np.abs(theirs).max()


@pytest.mark.parametrize("measure", SEARCHES)
@pytest.mark.parametrize("decimals", [2, 16])
@pytest.mark.parametrize("seed", range(20))
def test_the_worst_tuple_is_the_worst_of_all(measure, seed, decimals):
    s, y = drawn(seed, 3 + seed % 5, decimals)
    value, loss, c = SEARCHES[measure](s, y)
    cuts = list(literal.all_cuts(measure, list(y), LOSSES[measure]))
    best = max(Delta - np.dot(c_of, s) for Delta, c_of in cuts)
    assert value == pytest.approx(best, abs=1e-12)
    assert loss - c @ s == pytest.approx(best, abs=1e-12)
    assert any(list(c) == list(c_of) and abs(loss - Delta) < 1e-12 for Delta, c_of in cuts)


def test_a_larger_tolerance_is_kept():
    X, y = one_against_rest(*IRIS)
    tables = PAGE["with_constant"](X.views)
    C1, C2 = 0.1 / len(y), 100 / len(y) ** 2
    _, lowest = PAGE["fit"](tables, y, C1, C2, 1e-8)
    for epsilon in (0.1, 0.01):
        _, found = PAGE["fit"](tables, y, C1, C2, epsilon)
        assert lowest < found <= lowest + C2 * epsilon * (1 + 1e-9)
