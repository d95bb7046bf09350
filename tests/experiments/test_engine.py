"""The engine: every row once, whatever stops a run, in whatever order or number of processes."""

import errno
import os
import re
import subprocess
import sys
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from mvref.experiments import engine
from mvref.experiments.engine import KEY, Item, Job, Ledger, derive_seed, execute, run, stale_rows
from mvref.experiments.items import find_item

STABLE = ["item", "dataset", "method", "parameter", "measure", "repeat", "seed", "value"]


MEASURES = {"mean": np.mean, "spread": np.std}


class Counter:
    """Items of cheap jobs that say which of them were executed."""

    def __init__(self, repeats=range(6), fails_at=None, error=None):
        self.executed = []
        self.repeats, self.fails_at, self.error = repeats, fails_at, error

    def item(self, measures=tuple(MEASURES)):
        jobs = [
            Job("toy", "draw", {"L": L}, r, measures, partial(self.draw, L, r, measures))
            for r in self.repeats
            for L in (100, 20)
        ]
        return Item("toy_paper", "table1", "draws", ("toy",), lambda dataset, quick, rows: jobs)

    def draw(self, L, repeat, measures, seed):
        if len(self.executed) == self.fails_at:
            raise self.error
        self.executed.append((L, repeat))
        x = np.random.default_rng(seed).normal(size=L)
        return {name: MEASURES[name](x) for name in measures}

    def run(self, ledger, **options):
        return run(self.item(**options), "toy", ledger)


@pytest.fixture
def ledger(tmp_path):
    return Ledger("toy_paper", tmp_path / "ledger")


@pytest.fixture
def full(ledger):
    """A ledger with all 24 rows, of 12 jobs."""
    assert Counter().run(ledger) == 24
    return ledger


def results(ledger):
    return ledger.read()[STABLE].values.tolist()


def test_a_run_computes_every_row_once(full):
    again, before = Counter(), full.path.read_bytes()
    assert again.run(full) == 0 and not again.executed
    assert full.path.read_bytes() == before
    assert not full.read().duplicated(KEY).any()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 0.77, 0.999])
def test_a_file_torn_anywhere_is_repaired_and_completed(full, share):
    expected, content = results(full), full.path.read_bytes()
    torn = content[: int(share * len(content))]
    full.path.write_bytes(torn)
    whole_lines = max(torn.count(b"\n") - 1, 0)
    assert len(full.read()) == 2 * whole_lines  # a torn line is not read
    counter = Counter()
    assert counter.run(full) == 24 - 2 * whole_lines
    assert results(full) == expected
    assert len(counter.executed) == 12 - whole_lines


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("no memory")])
def test_a_stopped_run_keeps_what_is_done(ledger, error):
    stopped = Counter(fails_at=5, error=error)
    with pytest.raises(type(error)):
        stopped.run(ledger)
    assert len(ledger.read()) == 10
    resumed = Counter()
    resumed.run(ledger)
    assert sorted(stopped.executed + resumed.executed) == sorted(product((100, 20), range(6)))


def test_a_job_that_lacks_a_measure_adds_only_that(ledger):
    Counter().run(ledger, measures=("mean",))
    means = ledger.read()["value"].tolist()
    assert Counter().run(ledger) == 12
    rows = ledger.read()
    assert rows.loc[rows["measure"] == "mean", "value"].tolist() == means
    assert (rows["measure"] == "spread").sum() == 12


def test_rows_stand_in_one_order(full, tmp_path):
    other = Ledger("toy_paper", tmp_path / "other")
    Counter(reversed(range(6))).run(other)
    assert results(full) == results(other)
    assert full.read()["parameter"][0] == '{"L":20}', "parameters are ordered as numbers"
    nine, ten = (engine._position(["", "", "", "{}", repeat]) for repeat in ("9", "10"))
    assert nine < ten, "repeats, too"


def test_values_keep_six_significant_digits_through_every_rewriting(ledger):
    Counter(range(1)).run(ledger)
    Counter(range(3)).run(ledger)
    for row in ledger.read().itertuples():
        assert f"{row.measure}={row.value:.6g}" in ledger.path.read_text()
        x = np.random.default_rng(row.seed).normal(size=20 if "20" in row.parameter else 100)
        assert row.value == pytest.approx(MEASURES[row.measure](x), rel=5e-6)


def test_seeds_depend_on_item_dataset_and_repeat_only():
    code = "from mvref.experiments.engine import derive_seed as d; print(d('fig2', 'mfeat', 3))"
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    elsewhere = subprocess.check_output([sys.executable, "-c", code], env=environment)
    assert int(elsewhere) == derive_seed("fig2", "mfeat", 3)
    seeds = {derive_seed(i, d, r) for i in ("fig2", "fig5") for d in "ab" for r in range(5)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_rows_of_one_repeat_share_the_seed(full):
    rows = full.read()
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
        counter.run(Ledger("toy_paper", tmp_path / "file" / "folder"))
    assert not counter.executed


def test_a_file_with_other_columns_is_refused(ledger):
    ledger.path.parent.mkdir()
    ledger.path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="must have the columns"):
        ledger.read()


def test_what_cannot_be_read_is_not_added_to(full):
    rows = full.read().assign(repeat=lambda rows: rows["repeat"] + 100).to_dict("records")
    full.path.write_bytes(b"\xef\xbb\xbf" + full.path.read_bytes())  # by an editor
    content = full.path.read_bytes()
    for call in (full.read, lambda: full.append(rows)):
        with pytest.raises(ValueError, match=r"must have the columns .*ufeffitem"):
            call()
    assert full.path.read_bytes() == content


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_full_disk_is_a_sentence_and_leaves_what_was_there(full, monkeypatch, broken):
    before, lines = full.read(), full.path.read_bytes().splitlines(keepends=True)
    full.path.write_bytes(b"".join([lines[0], *lines[:0:-1]]))  # in another order
    files = set(full.path.parent.iterdir())

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, broken, fail)
    new = before.assign(repeat=lambda rows: rows["repeat"] + 100).to_dict("records")
    with pytest.raises(
        OSError, match="cannot be written .No space left.*the same command"
    ) as error:
        full.append(new) if broken == "fsync" else full.sort()
    assert error.value.errno is None and set(full.path.parent.iterdir()) == files
    monkeypatch.undo()
    full.append(new)
    full.sort()
    assert len(full.read()) == 2 * len(before)


def test_two_processes_give_the_rows_of_one(tmp_path):
    item = find_item("mvna_kmhks.decision")
    serial, parallel = (Ledger(item.paper, tmp_path / name) for name in ("one", "two"))
    assert run(item, "moons", serial, quick=True, n_jobs=1) == 16
    assert run(item, "moons", parallel, quick=True, n_jobs=2) == 16
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
    code = "import os, sys, pathlib; from mvref.experiments.engine import locked\n"
    code += "with locked(pathlib.Path(sys.argv[1], 'toy_paper.csv')): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, tmp_path]).returncode == 9
    assert Counter().run(Ledger("toy_paper", tmp_path)) == 24


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda line: "<<<<<<< HEAD", "fields"),
        (lambda line: "", "fields"),
        (lambda line: line[:40], "fields"),
        (lambda line: f"{line},1", "fields"),
        (lambda line: f"{line},1,2,3", "fields"),
        (lambda line: ",".join(engine.FIELDS), "none"),
        (lambda line: re.sub(r",(\d),", r",\1.5,", line, count=1), "none"),
        (lambda line: line.replace("{", "", 1), "none"),
        (lambda line: re.sub(r"mean=[^;]*", "mean=nan", line), "mean=nan"),
        (lambda line: re.sub(r"mean=[^;]*", "mean=1e999", line), "mean=1e999"),
        (lambda line: re.sub(r"mean=[^;]*", "mean", line), "none"),
        (lambda line: re.sub(r",[0-9a-f]{4},", ",beef,", line), "beef"),
    ],
)
def test_a_damaged_line_is_named(full, damage, words):
    lines = full.path.read_text().split("\n")
    lines[4] = damage(lines[4])
    full.path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=f"toy_paper.csv, line 5: .*{words}"):
        full.read()


def test_a_row_that_stands_twice_is_named(full):
    lines = full.path.read_text().splitlines(keepends=True)
    full.path.write_text("".join([*lines, lines[3]]))
    with pytest.raises(ValueError, match="toy_paper.csv, line 14: a row that is there already"):
        full.read()


def test_rows_are_appended_once_and_with_finite_values_only(full):
    rows, content = full.read().to_dict("records"), full.path.read_bytes()
    assert full.append(rows) == 0
    for value in (np.nan, np.inf, None, "nan"):
        with pytest.raises(ValueError, match="takes no such row, .*'toy', 'draw'"):
            full.append([row | {"repeat": 7, "value": value} for row in rows[:2]])
    for words in ("two\nlines", "one\rline"):
        with pytest.raises(ValueError, match="no such row, a word of more than one line"):
            full.append([rows[0] | {"dataset": words}])
    for name, words in [("measure", w) for w in ("", "a,b", 'a"', "a;b")] + [("numpy", "2,1")]:
        with pytest.raises(ValueError, match="takes no such measure or version"):
            full.append([rows[0] | {name: words}])
    new = rows[0] | {"repeat": 7}
    with pytest.raises(ValueError, match="takes no row twice: .'table1', 'toy'"):
        full.append([new, new | {"value": 2.0}])
    assert full.path.read_bytes() == content
    assert full.append([new, rows[0] | {"repeat": 8}, rows[1]]) == 2


def test_rows_are_read_as_they_were_written(ledger):
    """Words with commas and quotes, measures with equal signs, other versions, all digits."""
    row = dict.fromkeys(engine.COLUMNS, "1") | {"paper": "toy_paper", "parameter": "{}"}
    words = {"method": 'two, "quoted"', "code": "", "value": "0.1234567890123456789"}
    rows = [row | words | {"measure": name} for name in ("a=1", "b")]
    rows.append(row | {"measure": "a=1", "repeat": "2", "sklearn": "2"})
    assert ledger.path.parent.mkdir() is None and ledger.append(rows) == 3
    assert ledger.append(rows) == 0
    expected = pd.DataFrame(rows, columns=engine.COLUMNS).astype(engine.TYPES)
    pd.testing.assert_frame_equal(ledger.read(), expected)
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"\n", b"\r\n"))
    pd.testing.assert_frame_equal(ledger.read(), expected)


def test_rows_carry_the_code_that_made_them(full):
    def told(n_repeats=6):
        pair = stale_rows(Counter(range(n_repeats)).item(), "toy", full.read())
        return [set(rows["repeat"]) for rows in pair]

    assert told() == [set(), set()]
    rows = full.read()
    rows.loc[rows["repeat"] == 2, "code"] = "01234567"
    rows.loc[rows["repeat"] == 3, "code"] = ""
    full.path.unlink()
    full.append(rows.to_dict("records"))
    assert told() == [{3}, {2}]
    assert told(5) == [{3}, {2, 5}], "no job makes repeat 5 any more"


def test_a_data_set_whose_name_begins_alike_is_another():
    item = Item("p", "i", "", ("moons", "moons-far"), None)
    rows = pd.DataFrame({"item": "i", "dataset": ["moons", "moons-disturbed", "moons-far", "iris"]})
    of_moons = engine.rows_of(item, "moons", rows)
    assert of_moons["dataset"].tolist() == ["moons", "moons-disturbed"]


def test_a_run_of_the_first_repeats(ledger):
    run(Counter().item(), "toy", ledger, n_repeats=2)
    assert set(ledger.read()["repeat"]) == {0, 1}
