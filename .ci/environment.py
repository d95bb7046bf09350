"""Make .venv and install the pinned requirements and the project into it.

Every way to fail ends in one sentence; what pip said is kept in .venv/setup.log.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOG = VENV / "setup.log"


def usable():
    """Whether .venv is there, whole, and of a Python that is new enough."""
    check = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", check]).returncode == 0


def create():
    command = [sys.executable, "-m", "venv", "--clear", VENV]
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("Could not make .venv (Debian and Ubuntu have venv in the package python3-venv).")


def install(*arguments):
    """Run pip install, its output going to the log; whether it succeeded."""
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", *arguments]
    with LOG.open("a") as log:
        return subprocess.run(command, cwd=ROOT, stdout=log, stderr=log).returncode == 0


def pip_error():
    """The last thing that pip called an error."""
    lines = LOG.read_text(errors="replace").splitlines()
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return errors[-1] if errors else "no reason given"


def main():
    if not usable():
        create()
    LOG.write_text("")
    log = LOG.relative_to(ROOT).as_posix()
    print(f"Installing the pinned requirements into .venv: minutes the first time (log: {log})")
    # Wheels only: where one is missing, this says so now and not after a failed compilation.
    if not install("--only-binary=:all:", "--require-hashes", "-r", "requirements.txt"):
        sys.exit(
            "Could not install requirements.txt: no network, or no wheel for this Python and "
            f"machine. pip: {pip_error()} (all of it in {log})"
        )
    if not install("--no-deps", "--no-build-isolation", "-e", "."):
        sys.exit(f"Could not install the project itself. pip: {pip_error()} (all of it in {log})")
    options = ("--no-deps", "--no-build-isolation", "--require-hashes")
    if not install(*options, "-r", "requirements-liblinear.txt"):
        print(
            "liblinear-official was not installed (it needs a C++ compiler, the reason is in "
            f"{log}): mvref solves the same problems with scikit-learn's LinearSVC instead."
        )


if __name__ == "__main__":
    main()
