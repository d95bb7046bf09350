"""The command line, as a user calls it."""

import os
import re
import subprocess
import sys

import pytest

from mvref.__main__ import main
from mvref.experiments.engine import KEY, LEDGER, Ledger
from mvref.experiments.items import ITEMS


def mvref(*arguments, **environment):
    """Run ``python -m mvref`` where only the embedded data sets are: status, output, messages."""
    env = {key: value for key, value in os.environ.items() if key != "MVREF_DATA"} | environment
    command = [sys.executable, "-m", "mvref", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_quick_run_of_a_figure_with_what_it_needs(tmp_path, monkeypatch, capsys):
    stored = {path: path.read_bytes() for path in LEDGER.rglob("*.csv")}
    nowhere = {"MVREF_CACHE": str(tmp_path / "empty")}
    nowhere |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp_path))
    status, out, messages = mvref("run", "mvl_svm.fig4", "--quick", **nowhere)
    assert status == 0, messages
    folder = out.strip()
    assert os.path.dirname(folder) == str(tmp_path), "quick rows go to a temporary folder"
    assert {path: path.read_bytes() for path in LEDGER.rglob("*.csv")} == stored
    for dataset in ("uwave", "flower17"):
        [sentence] = [line for line in messages.splitlines() if f"{dataset!r}" in line]
        words = "Skipped: data set .* it is not on this machine.* into the folder "
        assert re.match(words, sentence)
    rows = Ledger("mvl_svm", folder).read()
    assert set(rows["dataset"]) == {"mfeat"}
    assert set(rows["item"]) == {"fig2", "fig3"}
    assert rows.loc[rows["measure"] == "accuracy", "value"].min() > 0.9

    # and here, without another start of Python
    monkeypatch.delenv("MVREF_DATA", raising=False)
    monkeypatch.setenv("MVREF_CACHE", nowhere["MVREF_CACHE"])
    assert main(["run", "mvl_svm.fig2", "--quick", "--dataset", "mfeat", "--ledger", folder]) == 0
    assert "mvl_svm.fig2 mfeat: 0 rows added" in capsys.readouterr().err
    assert main(["compare", "mvl_svm.fig4", "--ledger", folder]) == 0
    out = capsys.readouterr().out
    assert "train_seconds" in out and "MVLSVM-hinge" in out


def test_list_names_every_item(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out and item.title in out for name, item in ITEMS.items())


def test_list_tells_which_rows_are_stale(tmp_path, capsys, monkeypatch):
    few = ("mvna_kmhks.decision", "mvna_kmhks.convergence", "speed.against")
    monkeypatch.setattr("mvref.experiments.items.ITEMS", {name: ITEMS[name] for name in few})
    folder = ["--ledger", str(tmp_path)]
    item = ["mvna_kmhks.decision", "--quick", "--dataset", "moons"]
    assert main(["run", *item, *folder]) == 0
    ledger = Ledger("mvna_kmhks", tmp_path)
    rows = ledger.read()

    def told():
        capsys.readouterr()
        assert main(["list", "--stale", *folder]) == 0
        return capsys.readouterr().out

    assert told() == "no row is stale\n"
    of_job = rows.groupby(KEY[:-1], sort=False).ngroup()
    rows.loc[of_job == 0, "code"] = "01234567"
    rows.loc[of_job == 1, "code"] = ""
    ledger.path.unlink()
    ledger.append(rows.to_dict("records"))
    n = (of_job == 0).sum()
    told_now = f"16 rows, {n} stale of {rows['method'][0]}, {n} of unknown code"
    assert told() == f"mvna_kmhks.decision moons: {told_now}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "fig99"], "item must be one of ['mvl_svm.fig2', "),
        (["compare", "fig99"], "got 'fig99'"),
        (["compare", "fig2"], "['mvl_svm.fig2', 'mwmvc2.fig2', 'mvpo.fig2']: name the paper too"),
        (["run", "mvl_svm.fig2", "--dataset", "cifar"], "data set must be one of ['flower17', "),
        (["run", "mvl_svm.fig2", "--ledger", __file__], "cannot be written"),
        (["frobnicate"], "invalid choice"),
        ([], "arguments are required"),
    ],
)
def test_wrong_arguments_end_in_one_clear_sentence(arguments, words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    said = capsys.readouterr()
    assert words in said.err
    assert not said.out


def test_the_process_says_by_its_status_that_an_item_is_unknown():
    status, out, messages = mvref("run", "fig99")
    assert (status, out) == (2, "")
    assert "got 'fig99'" in messages
    assert "Traceback" not in messages


def test_a_terminal_without_a_letter_shows_another():
    status, out, messages = mvref("report", "mwmvc2", PYTHONIOENCODING="ascii:strict")
    assert status == 0 and "MwMvC?" in out, messages


def test_stopping_is_no_accident(monkeypatch, capsys):
    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("mvref.experiments.run_items", stopped)
    assert main(["run", "mvl_svm.fig2"]) == 130
    assert "Run the same command again to continue" in capsys.readouterr().err
