"""The engine: every row once, whatever stops a run, in whatever order or number of processes."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from mvref.experiments.engine import KEY, Item, Job, Ledger, derive_seed, execute, run
from mvref.experiments.items import find_item

STABLE = ["item", "dataset", "method", "parameter", "measure", "repeat", "seed", "value"]


class Counter:
    """Items of cheap jobs that say which of them were executed."""

    def __init__(self, n_repeats=6, fails_at=None, error=None):
        self.executed = []
        self.n_repeats, self.fails_at, self.error = n_repeats, fails_at, error

    def item(self, measures=("mean", "spread"), reverse=False):
        repeats = range(self.n_repeats)
        repeats = reversed(repeats) if reverse else repeats
        jobs = [
            Job("toy", "draw", {"L": L}, r, measures, partial(self.draw, L, r, measures))
            for r in repeats
            for L in (100, 20)
        ]
        return Item("toy_paper", "table1", "draws", ("toy",), lambda dataset, quick, rows: jobs)

    def draw(self, L, repeat, measures, seed):
        if len(self.executed) == self.fails_at:
            raise self.error
        self.executed.append((L, repeat))
        x = np.random.default_rng(seed).normal(size=L)
        return {"mean": x.mean(), "spread": x.std()} if len(measures) == 2 else {"mean": x.mean()}


@pytest.fixture
def ledger(tmp_path):
    return Ledger("toy_paper", tmp_path / "ledger")


def results(ledger):
    return ledger.read()[STABLE].values.tolist()


def test_a_run_computes_every_row_once(ledger):
    counter = Counter()
    assert run(counter.item(), "toy", ledger) == 24
    before = ledger.path.read_bytes()
    assert run(counter.item(), "toy", ledger) == 0
    assert len(counter.executed) == 12
    assert ledger.path.read_bytes() == before
    assert not ledger.read().duplicated(KEY).any()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 0.77, 0.999])
def test_a_file_torn_anywhere_is_repaired_and_completed(ledger, share):
    run(Counter().item(), "toy", ledger)
    expected, content = results(ledger), ledger.path.read_bytes()
    cut = int(share * len(content))
    ledger.path.write_bytes(content[:cut])
    whole_lines = max(content[:cut].count(b"\n") - 1, 0)
    assert len(ledger.read()) == whole_lines  # a torn line is not read
    counter = Counter()
    assert run(counter.item(), "toy", ledger) == 24 - whole_lines
    assert results(ledger) == expected
    assert len(counter.executed) == 12 - whole_lines // 2  # two rows per job


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("no memory")])
def test_a_stopped_run_keeps_what_is_done(ledger, error):
    stopped = Counter(fails_at=5, error=error)
    with pytest.raises(type(error)):
        run(stopped.item(), "toy", ledger)
    assert len(ledger.read()) == 10
    resumed = Counter()
    run(resumed.item(), "toy", ledger)
    assert sorted(stopped.executed + resumed.executed) == sorted(
        (L, r) for L in (100, 20) for r in range(6)
    )


def test_a_job_that_lacks_a_measure_adds_only_that(ledger):
    run(Counter().item(measures=("mean",)), "toy", ledger)
    means = ledger.read()["value"].tolist()
    assert run(Counter().item(), "toy", ledger) == 12
    rows = ledger.read()
    assert rows.loc[rows["measure"] == "mean", "value"].tolist() == means
    assert (rows["measure"] == "spread").sum() == 12


def test_rows_stand_in_one_order(ledger, tmp_path):
    other = Ledger("toy_paper", tmp_path / "other")
    run(Counter().item(), "toy", ledger)
    run(Counter().item(reverse=True), "toy", other)
    assert results(ledger) == results(other)
    landmarks = [row[STABLE.index("parameter")] for row in results(ledger)]
    assert landmarks[0] == '{"L":20}', "parameters are ordered as numbers"


def test_values_keep_six_significant_digits_through_every_rewriting(ledger):
    run(Counter(n_repeats=1).item(), "toy", ledger)
    run(Counter(n_repeats=3).item(), "toy", ledger)
    for row in ledger.read(as_text=True).itertuples():
        assert row.value == f"{float(row.value):.6g}"
        x = np.random.default_rng(int(row.seed)).normal(size=20 if "20" in row.parameter else 100)
        exact = {"mean": x.mean(), "spread": x.std()}[row.measure]
        assert float(row.value) == pytest.approx(exact, rel=5e-6)


def test_seeds_depend_on_item_dataset_and_repeat_only():
    code = "from mvref.experiments.engine import derive_seed as d; print(d('fig2', 'mfeat', 3))"
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    elsewhere = subprocess.check_output([sys.executable, "-c", code], env=environment)
    assert int(elsewhere) == derive_seed("fig2", "mfeat", 3)
    seeds = {derive_seed(i, d, r) for i in ("fig2", "fig5") for d in "ab" for r in range(5)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_rows_of_one_repeat_share_the_seed(ledger):
    run(Counter().item(), "toy", ledger)
    rows = ledger.read()
    assert (rows.groupby("repeat")["seed"].nunique() == 1).all()
    assert rows["seed"].nunique() == 6


@pytest.mark.parametrize("values", [{"mean": np.nan}, {"mean": np.inf}, {"other": 1.0}, {}])
def test_a_job_must_return_what_it_declares(values):
    job = Job("toy", "draw", {}, 0, ("mean",), lambda seed: values)
    with pytest.raises(ValueError, match="finite value for each measure"):
        execute(job, 0)


def test_a_ledger_that_cannot_be_written_is_said_before_anything_is_computed(tmp_path):
    (tmp_path / "file").touch()
    counter = Counter()
    with pytest.raises(OSError, match="cannot be written .*; choose another folder with --ledger"):
        run(counter.item(), "toy", Ledger("toy_paper", tmp_path / "file" / "folder"))
    assert not counter.executed


def test_a_file_with_other_columns_is_refused(ledger):
    ledger.path.parent.mkdir()
    ledger.path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="must have the columns"):
        ledger.read()


def test_two_processes_give_the_rows_of_one(tmp_path):
    whole = find_item("mvl_svm.fig2")

    def few(dataset, quick, rows):
        jobs = list(whole.jobs(dataset, True, rows))
        cheap = ("MVLSVM", "MVLSVM-rbf")
        return [job for job in jobs if job.parameter.get("L") == 10 and job.method in cheap]

    item = Item("mvl_svm", "fig2", "", ("mfeat",), few)
    serial, parallel = Ledger("mvl_svm", tmp_path / "one"), Ledger("mvl_svm", tmp_path / "two")
    assert run(item, "mfeat", serial, n_jobs=1) == 6
    assert run(item, "mfeat", parallel, n_jobs=2) == 6
    assert results(serial) == results(parallel)
