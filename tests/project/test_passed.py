"""A run that has passed is left out where nothing has changed, and nowhere else."""

import shutil
import subprocess
from types import SimpleNamespace

import pytest

from tests import passed

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git tells which files there are")


def file():
    return passed.ROOT / "tests" / "passed.py"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The runs in a new repository, of which "fail" fails, and "edit" edits a file meanwhile."""
    (tmp_path / ".gitignore").write_text("_build/")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(passed, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    file().write_text("1")
    runs = []

    def run(command, **options):
        if command[0] == "git":
            return subprocess.run(command, **options)
        runs.append(command[-1])
        if runs[-1] == "edit":
            file().write_text("2")
        return SimpleNamespace(returncode=int(runs[-1] == "fail"))

    monkeypatch.setattr(passed, "subprocess", SimpleNamespace(run=run))
    return runs


@pytest.mark.parametrize(("argument", "n_runs"), [("pass", 1), ("fail", 2), ("edit", 2)])
def test_only_what_has_passed_as_it_stands_is_not_run_again(runs, argument, n_runs):
    for _ in range(2):
        file().write_text("as it stands")
        assert passed.run([argument]) == int(argument == "fail")
    assert len(runs) == n_runs


CHANGES = {
    "file": lambda patch: file().write_text("3"),
    "new file": lambda patch: (passed.ROOT / "b.py").touch(),
    "version": lambda patch: patch.setattr(passed, "distributions", lambda: []),
    "setting": lambda patch: patch.setenv("MVREF_DATA", "elsewhere"),
    "machine": lambda patch: patch.setattr(passed.platform, "node", lambda: "another"),
    "Python": lambda patch: patch.setattr(passed.sys, "version", "2.7"),
    "copy": lambda patch: patch.setattr(passed, "ROOT", passed.ROOT.rename(f"{passed.ROOT}2")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_runs_it_again(runs, monkeypatch, change):
    passed.run(["pass"])
    CHANGES[change](monkeypatch)
    passed.run(["pass"])
    assert len(runs) == 2


@pytest.mark.parametrize("git", [None, "no repository"])
def test_where_git_does_not_tell_the_files_nothing_is_known(runs, monkeypatch, git):
    monkeypatch.setattr(passed.shutil, "which", lambda name: git)
    if git:
        monkeypatch.setattr(passed, "FILES", ("git", "no-such-command"))
    assert passed.run(["pass"]) == passed.run(["pass"]) == 0 and len(runs) == 2
