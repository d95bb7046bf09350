"""The engine: every row once, whatever stops a run, in whatever order or number of processes."""

import os
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from mvref.experiments import engine
from mvref.experiments.engine import KEY, Item, Job, Ledger, derive_seed, execute, run, stale_rows
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


RUN = """
import sys, time
from functools import partial
from pathlib import Path
from mvref.experiments.engine import Item, Job, Ledger, run

def one(seed):
    return {"a": 1.0, "b": 2.0}

def jobs(dataset, quick, rows):
    for i in range(40):
        yield Job(dataset, "m", {"i": i}, 0, ("a", "b"), one)

folder, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
while not (folder / "go").exists():
    time.sleep(0.001)
print(run(Item("toy_paper", name, "", ("toy",), jobs), "toy", Ledger("toy_paper", folder)))
"""


def test_runs_at_the_same_time_lose_and_repeat_nothing(tmp_path):
    """Instant jobs into an empty ledger: two runs of one item, and one of another."""
    command = [sys.executable, "-c", RUN, tmp_path]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    runs = [subprocess.Popen([*command, name], **pipes) for name in ("A", "A", "B")]
    assert [process.stdout.readline() for process in runs] == ["ready\n"] * 3
    (tmp_path / "go").touch()
    said = [process.communicate() for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], said
    rows = Ledger("toy_paper", tmp_path).read()
    assert len(rows) == 160 and not rows.duplicated(KEY).any()
    added = [int(out) for out, _ in said]
    assert added[0] + added[1] == added[2] == 80


def test_a_run_that_was_killed_holds_no_lock(tmp_path):
    code = "import os, sys; from mvref.experiments.engine import Ledger\n"
    code += "with Ledger('toy_paper', sys.argv[1])._locked(): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, tmp_path]).returncode == 9
    assert run(Counter().item(), "toy", Ledger("toy_paper", tmp_path)) == 24


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda line: "<<<<<<< HEAD", "fields"),
        (lambda line: "", "fields"),
        (lambda line: line[:40], "fields"),
        (lambda line: f"{line},1", "fields"),
        (lambda line: f"{line},1,2,3", "fields"),
        (lambda line: ",".join(engine.COLUMNS), "none"),
        (lambda line: re.sub(r",(\d),", r",\1.5,", line, count=1), "none"),
        (lambda line: line.replace("{", "", 1), "none"),
        (lambda line: re.sub(r"\d+\.\d+", "nan", line, count=1), "value nan"),
        (lambda line: re.sub(r"\d+\.\d+", "1e999", line, count=1), "value 1e999"),
    ],
)
def test_a_damaged_line_is_named(ledger, damage, words):
    run(Counter().item(), "toy", ledger)
    lines = ledger.path.read_text().split("\n")
    lines[4] = damage(lines[4])
    ledger.path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=f"toy_paper.csv, line 5: .*{words}"):
        ledger.read()


def test_a_row_that_stands_twice_is_named(ledger):
    run(Counter().item(), "toy", ledger)
    lines = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join([*lines, lines[3]]))
    with pytest.raises(ValueError, match="toy_paper.csv, line 26: the row of line 4 again"):
        ledger.read()


def test_rows_are_appended_once_and_with_finite_values_only(ledger):
    run(Counter(n_repeats=2).item(), "toy", ledger)
    rows, content = ledger.read(as_text=True).to_dict("records"), ledger.path.read_bytes()
    assert ledger.append(rows) == 0
    assert ledger.path.read_bytes() == content
    for value in (np.nan, np.inf, None, "nan"):
        with pytest.raises(ValueError, match="no such row, .*: toy_paper,table1,toy,draw,.*L"):
            ledger.append([row | {"repeat": 7, "value": value} for row in rows])
    assert ledger.path.read_bytes() == content
    assert ledger.append([rows[0] | {"repeat": 7}, rows[0] | {"repeat": 8}, rows[1]]) == 2


def test_rows_carry_the_code_that_made_them(ledger):
    item = Counter().item()
    run(item, "toy", ledger)
    unknown, stale = stale_rows(item, "toy", ledger.read())
    assert unknown.empty and stale.empty
    rows = ledger.read(as_text=True)
    rows.loc[rows["repeat"] == "2", "code"] = "01234567"
    rows.loc[rows["repeat"] == "3", "code"] = ""
    rows.to_csv(ledger.path, index=False)
    unknown, stale = stale_rows(item, "toy", ledger.read())
    assert set(stale["repeat"]) == {2} and set(unknown["repeat"]) == {3}
    _, stale = stale_rows(Counter(n_repeats=5).item(), "toy", ledger.read())
    assert set(stale["repeat"]) == {2, 5}, "no job makes repeat 5 any more"


def test_without_the_repository_there_is_no_ledger_but_one_s_own(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "LEDGER", tmp_path / "not there")
    with pytest.raises(FileNotFoundError, match="part of the repository.*clone https://"):
        Ledger("toy_paper").read()
    counter = Counter()
    with pytest.raises(FileNotFoundError, match="--ledger DIR"):
        run(counter.item(), "toy", Ledger("toy_paper"))
    assert not counter.executed
    assert run(counter.item(), "toy", Ledger("toy_paper", tmp_path)) == 24
