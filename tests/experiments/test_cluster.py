"""The grid of an experiment, fits, and the passes of one fit, sent to a cluster of two workers."""

import os
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from mvref import MVLSVM, compare_methods, fit_in_chunks
from mvref.datasets import load_iris_views
from mvref.experiments import find_item
from mvref.experiments.engine import Item, Job, Ledger, run
from mvref.rivals import SVM2K

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    """Two processes, each with one thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        workers = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)
        with workers, distributed.Client(workers) as client:
            yield client


def where(seed):
    """A job that tells which process did it, and takes long enough for another to start."""
    time.sleep(0.2)
    return {"process": os.getpid() % 100_000}  # the ledger keeps six digits


def test_the_jobs_run_on_the_workers(cluster, tmp_path):
    def jobs(dataset, quick, rows):
        for repeat in range(6):
            yield Job(dataset, "where", {}, repeat, ("process",), where)

    item = Item("paper", "item", "where jobs run", ("digits",), jobs)
    ledger = Ledger("paper", tmp_path)
    with parallel_config(backend="dask"):
        assert run(item, "digits", ledger, n_jobs=2) == 6
    processes = set(ledger.read()["value"].astype(int))
    assert processes == {pid % 100_000 for pid in cluster.run(os.getpid).values()}
    assert len(processes) == 2 and os.getpid() % 100_000 not in processes


def test_a_grid_gives_the_same_rows_on_the_cluster(cluster, tmp_path):
    item = find_item("mvna_kmhks.decision")
    here, there = (Ledger(item.paper, tmp_path / name) for name in ("here", "there"))
    assert run(item, "moons", here, quick=True) == 16
    with parallel_config(backend="dask"):
        run(item, "moons", there, quick=True, n_jobs=2)
    assert here.read().drop(columns="seconds").equals(there.read().drop(columns="seconds"))


def test_an_estimator_takes_the_backend_from_the_context(cluster):
    data = load_iris_views()
    here = SVM2K(tol=0.1, random_state=0).fit(data.X, data.y)
    with parallel_config(backend="dask"):
        there = SVM2K(tol=0.1, random_state=0, n_jobs=2).fit(data.X, data.y)
    assert_array_equal(here.dual_coef_, there.dual_coef_)


def test_a_comparison_gives_the_same_rows_on_the_cluster(cluster):
    data = load_iris_views()
    options = {"budget": 1, "n_splits": 2, "n_repeats": 1, "n_folds": 2, "folder": None}
    options |= {"verbose": False, "random_state": 0}
    X, y = data.X[::3], data.y[::3]
    here = compare_methods(X, y, ["Concat"], **options).rows
    with parallel_config(backend="dask"):
        there = compare_methods(X, y, ["Concat"], n_jobs=2, **options).rows
    assert here.drop(columns="fit_seconds").equals(there.drop(columns="fit_seconds"))


def load(i, folder, deadly):
    """Block i of eight; to load block 5 a third time, in a Newton step, costs the worker its life.

    Who loaded it leaves a file.
    """
    loads = list(Path(folder).glob(f"{i}-*"))
    (Path(folder) / f"{i}-{len(loads)}-{os.getpid()}").touch()
    if deadly and i == 5 and len(loads) == 2:
        os._exit(1)
    rng = np.random.default_rng(i)
    y = rng.integers(3, size=40)
    return [rng.normal(size=(40, 3)) + y[:, None] * (0.3, 0.7, v) for v in range(2)], y


@pytest.mark.parametrize("deadly", [False, True], ids=["quiet", "a worker dies"])
def test_a_fit_in_chunks_on_the_workers(cluster, tmp_path, deadly):
    """The fit of one machine, also if a worker is lost in the middle of it."""
    from dask import delayed

    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    one, many = (MVLSVM(12, loss="squared_hinge", random_state=0) for _ in range(2))
    fit_in_chunks(one, lambda: (load(i, here, False) for i in range(8)))
    cluster.wait_for_workers(2)
    before = set(cluster.run(os.getpid).values())
    fit_in_chunks(many, [delayed(load)(i, there, deadly) for i in range(8)])
    assert_array_equal(many.projection_.landmark_indices_, one.projection_.landmark_indices_)
    assert many.n_iter_ == one.n_iter_ > 3
    assert_allclose(many.coef_, one.coef_, rtol=0, atol=1e-10 * np.abs(one.coef_).max())
    assert_allclose(many.intercept_, one.intercept_, atol=1e-10)
    loaded_by = {int(file.name.split("-")[2]) for file in there.iterdir()}
    assert len(loaded_by) >= 2 and os.getpid() not in loaded_by
    cluster.wait_for_workers(2)
    after = set(cluster.run(os.getpid).values())
    assert len(before - after) == deadly  # the nanny has started another one
