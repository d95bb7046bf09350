"""The grid of an experiment and the fits of an estimator, sent to a cluster of two workers."""

import os
import time
import warnings

import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal

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
