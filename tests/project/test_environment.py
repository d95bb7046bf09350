"""How `make` sets itself up, and that each way to fail ends in one sentence."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("Makefile", "pyproject.toml", "README.md", "LICENSE", ".ci", "requirements.txt")
NOTICE = "mvref/datasets/data/NOTICE.txt"  # a licence, without which no package is built

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shell scripts stand in for programs")


@pytest.fixture
def project(tmp_path):
    """A copy of what `make` needs to set itself up, with an empty package."""
    for name in (*NEEDED, "requirements-liblinear.txt"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    (tmp_path / NOTICE).parent.mkdir(parents=True)
    shutil.copy(ROOT / NOTICE, tmp_path / NOTICE)
    (tmp_path / "mvref" / "__init__.py").touch()
    return tmp_path


def program(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def set_up(project, *, python=sys.executable, **variables):
    """Run `make .venv/installed` in the copy: its exit status and what it printed."""
    env = {
        key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))
    }
    done = subprocess.run(
        ["make", ".venv/installed", f"PYTHON={python}"],
        cwd=project,
        env=env | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    # make's own last line names the rule that failed.
    lines = [
        line for line in done.stdout.splitlines() if not re.match(r"(g?make).*: \*\*\* ", line)
    ]
    return done.returncode, lines


def test_old_python_gets_one_sentence(project):
    old = 'import sys; sys.version_info = (3, 8, 18, "final", 0); exec(sys.argv[1])'
    python = program(project / "bin" / "python-old", f"exec {sys.executable} -c '{old}' \"$2\"")
    status, lines = set_up(project, python=python)
    assert status != 0
    [sentence] = lines
    assert "needs Python 3.11 or newer" in sentence
    assert "3.8.18" in sentence
    assert not (project / ".venv").exists()


def test_absent_python_gets_one_sentence(project):
    status, lines = set_up(project, python="python-that-nobody-has")
    assert status != 0
    [sentence] = lines
    assert "No python-that-nobody-has here" in sentence


def test_no_network_gets_one_sentence(project):
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    status, lines = set_up(project, **nowhere)
    assert status != 0
    _progress, sentence = lines
    assert "no network, or no wheel" in sentence
    assert "No matching distribution found for" in sentence
    assert ".venv/setup.log" in sentence
    assert not (project / ".venv" / "installed").exists()
    assert (project / ".venv" / "setup.log").stat().st_size > 0


def test_no_compiler_is_said_and_stops_nothing(project):
    # Only what builds packages, so that the test takes seconds.
    lock = (project / "requirements.txt").read_text()
    builders = re.findall(
        r"^(?:packaging|setuptools|wheel)==.*\n(?:    --hash.*\n)+", lock, re.MULTILINE
    )
    assert len(builders) == 3
    (project / "requirements.txt").write_text("\n".join(builders))
    broken = program(project / "bin" / "no-compiler", "exit 1")
    compilers = {"CC": str(broken), "CXX": str(broken), "PIP_NO_CACHE_DIR": "1"}
    status, lines = set_up(project, **compilers)
    if status != 0 and "no network" in lines[-1]:
        pytest.skip("no package registry can be reached")
    assert status == 0
    _progress, sentence = lines
    assert "C++ compiler" in sentence
    assert "LinearSVC" in sentence
    # The second time there is nothing to do.
    status, lines = set_up(project)
    assert status == 0
    assert "up to date" in lines[-1]
