"""MultiView: the contract of multi-view input."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from mvref import MultiView
from mvref.core.input import as_multiview, is_collection_of_views
from tests.literal import hide, random_pattern

NAN = np.nan


def dense(view):
    return view.toarray() if sparse.issparse(view) else np.array(view)


def same(X, Y):
    """Assert that two tables hold the same values, names and gaps."""
    assert X.names == Y.names
    assert_array_equal(X.observed, Y.observed)
    for a, b in zip(X.views, Y.views, strict=True):
        assert_array_equal(dense(a), dense(b))


@pytest.fixture
def arrays():
    """Two views of 6 samples whose entries are all different."""
    return [np.arange(12.0).reshape(6, 2), np.arange(100.0, 118.0).reshape(6, 3)]


@pytest.fixture
def X(arrays):
    return MultiView(arrays, names=["a", "b"])


# ------------------------------------------------------------------ construction and attributes


def test_attributes(X, arrays):
    assert (X.n_views, X.n_samples, len(X), X.shape, X.ndim) == (2, 6, 6, (6, 5), 2)
    assert X.names == ["a", "b"] and X.widths == [2, 3]
    assert X.observed.shape == (6, 2) and X.observed.dtype == bool and X.observed.all()
    for view, array in zip(X.views, arrays, strict=True):
        assert_array_equal(view, array)
        assert view.dtype == np.float64
    assert repr(X) == "MultiView(6 samples, a: 2, b: 3)"
    assert MultiView([np.eye(3, dtype=bool)]).views[0].dtype == np.float64


def test_all_forms_of_input_agree(X, arrays):
    frames = [pd.DataFrame(a, columns=[f"c{j}" for j in range(a.shape[1])]) for a in arrays]
    lists = [a.tolist() for a in arrays]
    csr_and_csc = [sparse.csr_matrix(arrays[0]), sparse.csc_array(arrays[1])]
    mapping = {"p": arrays[0], "q": frames[1]}
    for views in (arrays, tuple(arrays), iter(arrays), frames, lists, csr_and_csc, mapping):
        same(MultiView(views, names=["a", "b"]), X)
    assert MultiView(mapping).names == ["p", "q"]
    assert MultiView(arrays).names == ["view_0", "view_1"]


def test_frames_are_not_joined_by_position_over_different_indices(arrays):
    frames = [pd.DataFrame(a, index=list("uvwxyz")) for a in arrays]
    same(MultiView(frames), MultiView(arrays))
    same(MultiView([frames[0], arrays[1]]), MultiView(arrays))  # an array has no index


def test_a_missing_view_is_a_row_of_nan(arrays):
    arrays[0][1] = NAN
    arrays[1][4] = NAN
    arrays[1][5, 0] = NAN  # partly NaN: not a missing view
    X = MultiView(arrays)
    assert_array_equal(np.argwhere(~X.observed), [[1, 0], [4, 1]])
    assert "17% of the views missing" in repr(X)


def test_observed_hides_values_without_touching_the_callers_array(arrays):
    observed = np.ones((6, 2), dtype=bool)
    observed[2, 0] = observed[3, 1] = False
    X = MultiView(arrays, observed=observed)
    assert_array_equal(X.observed, observed)
    assert np.isnan(X.views[0][2]).all() and np.isnan(X.views[1][3]).all()
    assert np.isfinite(arrays[0]).all() and np.isfinite(arrays[1]).all()
    same(MultiView(X.views), MultiView(arrays, observed=observed.tolist()))


def test_missing_rows_of_csr_views():
    dense = np.array([[0.0, 1.0], [0.0, 0.0], [2.0, 0.0]])
    observed = np.array([[True], [True], [False]])
    X = MultiView([sparse.csr_matrix(dense)], observed=observed)
    assert sparse.issparse(X.views[0]) and X.views[0].format == "csr"
    assert_array_equal(X.observed, observed)  # a row of zeros is not a missing view
    assert_array_equal(X.views[0].toarray(), [[0, 1], [0, 0], [NAN, NAN]])
    same(MultiView(X.views), X)  # and the gap is found again in the NaN
    same(X[[2, 0]], MultiView([X.views[0].toarray()[[2, 0]]]))
    partly = MultiView([sparse.csr_matrix([[NAN, 1.0], [NAN, 0.0], [NAN, NAN]])])
    assert_array_equal(partly.observed, [[True], [True], [False]])


# ------------------------------------------------------------------ immutability


def tries_to_change(X):
    """Ways to write into a table; each must raise and leave the table as it is."""
    if sparse.issparse(X.views[0]):
        yield lambda: X.views[0].data.__setitem__(0, 99.0)
    else:
        yield lambda: X.views[0].__setitem__((0, 0), 99.0)
    yield lambda: X.observed.__setitem__((0, 0), False)
    yield lambda: setattr(X, "views", [])
    yield lambda: setattr(X, "names", ["p", "q"])
    yield lambda: setattr(X, "observed", None)
    yield lambda: X.__setitem__(0, X[1])


MADE = {  # by each operation that builds a new table, the same one
    "constructor": lambda X: X,
    "slice": lambda X: X[:],
    "mask": lambda X: X[np.ones(len(X), dtype=bool)],
    "integers": lambda X: X[np.arange(len(X))],
    "select": lambda X: X.select(X.names),
    "drop_views": lambda X: X.drop_views(0.0),
    "observed": lambda X: MultiView(X.views, names=X.names, observed=X.observed),
    "pickle": lambda X: pickle.loads(pickle.dumps(X)),
    "stored by 1.0": lambda X: pickle.loads(
        pickle.dumps(X, 0).replace(b"mvref.core.input.views", b"mvref.core.views")
    ),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_immutable(arrays, make, form):
    X = MultiView(hide(arrays, random_pattern(2, 6, 2)), names=["a", "b"])
    X = MultiView([form(view) for view in X.views], names=X.names)
    table = make(X)
    same(table, X)
    before = dense(table.views[0])
    for change in tries_to_change(table):
        with pytest.raises((ValueError, AttributeError, TypeError)):
            change()
    assert_array_equal(dense(table.views[0]), before)


def test_lists_given_out_are_copies_and_the_callers_arrays_stay_writeable(X, arrays):
    X.views.append(None)
    X.names[0] = "changed"
    assert X.n_views == 2 and X.names == ["a", "b"]
    arrays[0][0, 0] = 5.0


# ------------------------------------------------------------------ row indexing


ROWS = {
    "slice": slice(1, 5, 2),
    "open slice": slice(None),
    "reversed": slice(None, None, -1),
    "mask": np.array([True, False, True, False, False, True]),
    "list of bool": [True, False, True, False, False, True],
    "integers": np.array([4, 0, 4]),
    "negative": [-1, -6],
    "uint8": np.array([3, 2], dtype=np.uint8),
    "series": pd.Series([2, 5], index=[10, 11]),
    "empty list": [],
    "ellipsis": ([1, 2], ...),  # scikit-learn's two-dimensional index
    "colon": ([1, 2], slice(None)),
    "no row": np.zeros(6, dtype=bool),
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_row_indexing_is_numpys(arrays, rows, form):
    arrays[1][2] = NAN
    X = MultiView([form(a) for a in arrays])
    part = X[rows]
    numpy_rows = np.asarray(rows, dtype=int) if isinstance(rows, list) and not rows else rows
    expected = [a[numpy_rows] for a in arrays]
    assert isinstance(part, MultiView) and part.n_views == 2
    for view, e in zip(part.views, expected, strict=True):
        assert_array_equal(dense(view), e)
    assert_array_equal(part.observed, np.column_stack([~np.isnan(e).all(axis=1) for e in expected]))


def test_one_integer_gives_a_table_of_one_sample(X):
    assert X[2].shape == (1, 5)
    same(X[-1], X[[5]])
    assert [len(row) for row in X] == [1] * 6


@pytest.mark.parametrize(
    "rows",
    [6, -7, [0, 6], np.ones(5, dtype=bool), (slice(None), 0), [[0, 1], [2, 3]], [0.5, 1.5]],
    ids=["int", "negative", "list", "short mask", "column", "2-D", "fractions"],
)
def test_wrong_index(X, rows):
    with pytest.raises(IndexError):
        X[rows]


# ------------------------------------------------------------------ concat, select, from_array


def test_concat(X, arrays):
    assert_array_equal(X.concat(), np.hstack(arrays))
    mixed = MultiView([sparse.csr_matrix(arrays[0]), arrays[1]])
    assert sparse.issparse(mixed.concat()) and mixed.concat().format == "csr"
    assert_array_equal(mixed.concat().toarray(), np.hstack(arrays))


def test_losing_the_views_by_accident_is_told(X, arrays):
    """NumPy and scikit-learn's own estimators would quietly see one flat table."""
    mixed = MultiView([sparse.csr_matrix(arrays[0]), arrays[1]])
    for table in (X, mixed):
        with pytest.warns(UserWarning, match="PerView"):
            assert_array_equal(np.asarray(table), np.hstack(arrays))
    with pytest.warns(UserWarning, match="PerView"):
        assert np.asarray(X, dtype=np.float32).dtype == np.float32
    with pytest.warns(UserWarning, match="PerView"):
        StandardScaler().fit(X)


def test_select(arrays):
    X = MultiView(hide(arrays, random_pattern(0, 6, 2)), names=["a", "b"])
    a, b = X.views
    for which in ("b", ["b"], 1, -1, np.int64(1)):
        same(X.select(which), MultiView({"b": b}))
    same(X.select(["b", 0]), MultiView({"b": b, "a": a}))


CUTS = {
    "widths": [2, 3],
    "numpy widths": np.array([2, 3]),
    "slices": [slice(0, 2), slice(2, 5)],
    "open slices": [slice(None, 2), slice(-3, None)],
    "indices": [[0, 1], np.array([2, 3, 4])],
    "ranges": (range(2), range(2, 5)),
    "slice and list": [slice(0, 2), [2, 3, 4]],
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_from_array(arrays, cut, form):
    flat = form(np.hstack(arrays))
    same(MultiView.from_array(flat, cut), MultiView(arrays))
    same(MultiView.from_array(flat, cut, names=["p", "q"]), MultiView(arrays, names=["p", "q"]))


def test_from_array_by_column_names(arrays):
    frame = pd.DataFrame(np.hstack(arrays), columns=list("uvxyz"))
    same(
        MultiView.from_array(frame, {"a": ["u", "v"], "b": list("xyz")}),
        MultiView({"a": arrays[0], "b": arrays[1]}),
    )
    same(MultiView.from_array(frame[list("zyxvu")], [["u", "v"], list("xyz")]), MultiView(arrays))
    one_column = MultiView.from_array(frame, ["z", ["u", "v"]])
    assert_array_equal(one_column.views[0].ravel(), arrays[1][:, 2])


def test_from_array_views_may_overlap_and_leave_columns_out(arrays):
    flat = np.hstack(arrays)
    X = MultiView.from_array(flat, [[0, 1, 2], slice(2, 4)])
    same(X, MultiView([flat[:, :3], flat[:, 2:4]]))


def test_from_array_is_the_inverse_of_concat(X):
    same(MultiView.from_array(X.concat(), dict(zip(X.names, X.widths, strict=True))), X)


def test_as_multiview(X, arrays):
    assert as_multiview(X) is X
    same(as_multiview(arrays), MultiView(arrays))
    same(as_multiview(np.hstack(arrays), views=[2, 3]), MultiView(arrays))
    assert as_multiview(np.hstack(arrays)).widths == [5]
    frame = pd.DataFrame(np.hstack(arrays), columns=list("uvxyz"))
    same(as_multiview(frame, views={"a": ["u", "v"], "b": list("xyz")}), X)


def test_what_is_a_collection_of_views(X, arrays):
    flat = np.hstack(arrays)
    frame = pd.DataFrame(flat)
    for views in (X, arrays, tuple(arrays), {"a": flat}, [frame], [flat.tolist(), flat.tolist()]):
        assert is_collection_of_views(views)
    for table in (flat, flat.tolist(), frame, sparse.csr_matrix(flat), list(flat), [], [[1, 2]]):
        assert not is_collection_of_views(table)


# ------------------------------------------------------------------ drop_views


SHARES = st.floats(0, 1) | st.just(1.0)  # of what may be dropped


@given(st.integers(1, 5), st.integers(1, 30), SHARES, st.booleans(), st.integers(0, 2**31))
def test_drop_views_exact_ratio_and_no_empty_row(V, m, part, gaps, seed):
    """The fraction is one of what is observed; gaps stay gaps, and every sample keeps a view."""
    observed = random_pattern(seed, m, V) if gaps else np.ones((m, V), dtype=bool)
    X = MultiView([np.ones((m, 1 + v)) for v in range(V)], observed=observed)
    fraction = part * (1 - m / observed.sum())
    dropped = X.drop_views(fraction, random_state=seed)
    lost = observed.sum() - dropped.observed.sum()
    assert abs(lost - fraction * observed.sum()) <= 0.5 + 1e-9
    assert dropped.observed.any(axis=1).all() and not (dropped.observed & ~observed).any()
    for view, seen in zip(dropped.views, dropped.observed.T, strict=True):
        assert_array_equal(np.isnan(view), np.broadcast_to(~seen[:, None], view.shape))
    same(dropped, X.drop_views(fraction, random_state=seed))
    assert_array_equal(X.observed, observed)  # the table itself stays as it is


def test_drop_views_is_uniform_over_cells():
    """Every cell is dropped equally often: 30 % of the time, within five standard errors."""
    X = MultiView([np.ones((10, 1))] * 3)
    n_draws = 2000
    rate = np.mean([~X.drop_views(0.3, random_state=s).observed for s in range(n_draws)], axis=0)
    assert_allclose(rate, 0.3, atol=5 * np.sqrt(0.3 * 0.7 / n_draws))


def test_drop_views_differs_with_the_seed_and_spares_the_global_one():
    X = MultiView([np.ones((50, 1))] * 2)
    before = check_random_state(None).get_state()[1].copy()
    a, b = (X.drop_views(0.3, random_state=s).observed for s in (0, 1))
    assert (a != b).any()
    assert_array_equal(check_random_state(None).get_state()[1], before)


def test_drop_views_of_csr():
    X = MultiView([sparse.eye(8, format="csr"), sparse.csr_matrix(np.ones((8, 2)))])
    dropped = X.drop_views(0.25, random_state=0)
    assert (~dropped.observed).sum() == 4
    dense = MultiView([v.toarray() for v in X.views]).drop_views(0.25, random_state=0)
    same(dropped, dense)
