"""Speed of MVL-SVM on uWave, against liblinear by hand; run by ``make bench``.

The contestants of a comparison take turns in one run, and medians are compared, because absolute
times of a shared machine mean little. One thread throughout; seconds are of the processor.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from mvref import MVLSVM, LandmarkProjection
from mvref.datasets import DatasetUnavailable, fetch_uwave
from mvref.mvl_svm import impute
from tests.costs import medians

L, TOL = 200, 1e-4


@pytest.fixture(scope="module")
def uwave():
    try:
        return fetch_uwave()
    except DatasetUnavailable as reason:
        pytest.skip(f"uWave is not on this machine: {reason}")


@pytest.fixture(scope="module")
def train(uwave):
    rows = uwave.splits[0][0]
    return uwave.X[rows], uwave.y[rows]


@pytest.fixture(scope="module")
def model(train):
    """Eight classes, squared hinge, liblinear's C = 1."""
    X, y = train
    options = {"c": float(len(y)), "loss": "squared_hinge", "tol": TOL, "random_state": 0}
    return MVLSVM(L, **options).fit(X, y)


@pytest.fixture(scope="module")
def liblinear():
    missing = "liblinear-official is not installed"
    return pytest.importorskip("liblinear.liblinearutil", reason=missing)


def race(rounds, **contestants):
    """Median seconds of each contestant."""
    seconds = medians(list(contestants.values()), rounds)
    return dict(zip(contestants, map(float, seconds), strict=True))


def tell(benchmark, title, seconds, ratios):
    """Print medians and ratios and keep them in the report of pytest-benchmark."""
    print(f"\n{title}")
    for name, value in seconds.items():
        print(f"  {name:32s} {1e3 * value:10.2f} ms")
    for name, ratio in ratios.items():
        print(f"  {name:32s} {ratio:10.2f}")
    benchmark.extra_info.update(seconds | ratios)


def gemm_and_exp(views, landmarks):
    """The least that a projection has to do: one product and one exponential per view."""
    blocks = []
    for x, z in zip(views, landmarks, strict=True):
        K = x @ z.T
        K *= -2.0
        K += np.einsum("ij,ij->i", x, x)[:, None]
        K += np.einsum("ij,ij->i", z, z)
        np.maximum(K, 0.0, out=K)
        K *= -1.0 / x.shape[1]
        blocks.append(np.exp(K, out=K))
    return np.hstack(blocks)


def test_fit(benchmark, record, train, model, liblinear):
    """At most 1.25 times projection + fastest bare solve; twice as fast as through lists."""
    X, y = train
    landmarks = model.projection_.landmarks_.views
    Phi = gemm_and_exp(X.views, landmarks)
    np.testing.assert_allclose(Phi, model.projection_.transform(X), atol=1e-10)
    parameter = liblinear.parameter(f"-s 2 -c 1 -B 1 -e {TOL} -q")
    labels = y.astype(float)
    rows = Phi.tolist()

    def official(data):
        return lambda: liblinear.train(liblinear.problem(labels, data()), parameter)

    seconds = race(
        7,
        fit=lambda: model.fit(X, y),
        fit_through_lists=official(lambda: gemm_and_exp(X.views, landmarks).tolist()),
        projection=lambda: gemm_and_exp(X.views, landmarks),
        official_lists=official(lambda: rows),
        official_array=official(lambda: Phi),
        official_csr=official(lambda: sparse.csr_matrix(Phi)),
        sklearn=lambda: LinearSVC(dual=False, tol=TOL).fit(Phi, y),
    )
    solves = ("official_lists", "official_array", "official_csr", "sklearn")
    fastest = min(seconds[name] for name in solves)
    overhead = seconds["fit"] / (seconds["projection"] + fastest)
    against_lists = seconds["fit_through_lists"] / seconds["fit"]
    ratios = {
        "fit / (projection + fastest)": overhead,
        "fit through lists / fit": against_lists,
        "lists without projection / fit": seconds["official_lists"] / seconds["fit"],
    }
    title = "fit, 896 rows, L=200, 8 classes, squared hinge, C=1"
    tell(benchmark, title, seconds, ratios)
    limit = seconds["projection"] + fastest
    record(f"uWave: {title}", seconds["fit"], "liblinear by hand", limit, limit)
    benchmark.pedantic(model.fit, args=(X, y), rounds=3, warmup_rounds=1)
    assert overhead <= 1.25
    assert against_lists >= 2


def test_predict(benchmark, record, uwave, train, model, liblinear):
    """One matrix product: at least 100 times faster than liblinear's predict on lists."""
    (X, y), test_views = train, uwave.X[uwave.splits[0][2]]
    Phi_train, Phi = model.projection_.transform(X), model.projection_.transform(test_views)
    parameter = liblinear.parameter(f"-s 2 -c 1 -B 1 -e {TOL} -q")
    problem = liblinear.problem(y.astype(float), sparse.csr_matrix(Phi_train))
    official = liblinear.train(problem, parameter)
    rows = Phi.tolist()

    # stands in for the projection, so that only the rest of `predict` is timed
    projected = SimpleNamespace(transform=lambda X: Phi)
    class_of = model.classes_
    stub = MVLSVM(**model.get_params())
    vars(stub).update(vars(model) | {"projection_": projected})
    answers = np.array(liblinear.predict([], rows, official, "-q")[0])
    agreement = np.mean(answers == model.predict(test_views).astype(float))
    seconds = race(
        5,
        product=lambda: class_of[(Phi @ model.coef_.T + model.intercept_).argmax(axis=1)],
        predict_after_projection=lambda: stub.predict(test_views),
        whole_predict=lambda: model.predict(test_views),
        official_lists=lambda: liblinear.predict([], rows, official, "-q"),
    )
    times = seconds["official_lists"] / seconds["product"]
    rest = seconds["official_lists"] / seconds["predict_after_projection"]
    ratios = {"lists / product": times, "lists / predict w/o projection": rest}
    tell(benchmark, "predict, 3582 rows", seconds, ratios | {"same labels": agreement})
    ours, theirs = seconds["predict_after_projection"], seconds["official_lists"]
    record(
        "uWave: prediction of 3582 projected rows", ours, "liblinear", theirs, seconds["product"]
    )
    benchmark.pedantic(model.predict, args=(test_views,), rounds=3, warmup_rounds=1)
    assert agreement > 0.995  # two solvers that stopped at the same tolerance
    assert times >= 100


def test_impute(benchmark, record, uwave):
    """All 4478 rows, 25 % missing: 100 times faster than a least-squares solve per row."""
    X = uwave.X
    projection = LandmarkProjection(L, random_state=0).fit(X)
    Phi = projection.transform(X)
    gaps = X.drop_views(0.25, random_state=0)
    Phi[np.repeat(~gaps.observed, L, axis=1)] = np.nan
    P = projection.reference_
    incomplete = np.flatnonzero(np.isnan(Phi).any(axis=1))
    sample = incomplete[:: len(incomplete) // 60][:60]

    def row_by_row():
        for i in sample:
            known = ~np.isnan(Phi[i])
            r = np.linalg.lstsq(P[:, known].T, Phi[i, known], rcond=None)[0]
            r @ P[:, ~known]

    seconds = race(
        5,
        impute_ridge=lambda: impute(Phi, P),
        impute_least_squares=lambda: impute(Phi, P, ridge=0),
        row_by_row_60=row_by_row,
    )
    all_rows = seconds.pop("row_by_row_60") * len(incomplete) / len(sample)
    ridge, exact = all_rows / seconds["impute_ridge"], all_rows / seconds["impute_least_squares"]
    seconds["row_by_row (60 rows, scaled)"] = all_rows
    title = f"impute, 4478 rows of which {len(incomplete)} incomplete, L=200, V=3"
    ratios = {"row by row / ridge": ridge, "row by row / least squares": exact}
    tell(benchmark, title, seconds, ratios)
    record("uWave: completion of 4478 rows", seconds["impute_ridge"], "row by row", all_rows)
    benchmark.pedantic(impute, args=(Phi, P), rounds=3, warmup_rounds=1)
    assert ridge >= 100
