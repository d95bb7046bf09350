"""Put what is released into dist/, checked: `make release`, on a commit that carries its tag.

Before it, `make` has built the book and its PDF.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
# What needs nothing that only the repository has; `make test` has run the others.
TESTS = ("tests/core", "tests/project", "tests/test_names.py")


def run(*command, cwd=ROOT):
    print("+", *command, flush=True)
    if subprocess.run(command, cwd=cwd).returncode != 0:
        sys.exit(f"No release: {' '.join(map(str, command))} failed.")


def told_by_git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.split()


def check_commit():
    """The version is that of a tag, and the tag is that of what is here."""
    if told_by_git("status", "--porcelain"):
        sys.exit("No release: there are changes that no commit has (git status).")
    if f"v{VERSION}" not in told_by_git("tag", "--points-at", "HEAD"):
        sys.exit(f"No release: this commit is not v{VERSION}. Tag it: git tag v{VERSION}")


def environment(folder):
    """The python of a fresh environment."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def main():
    check_commit()
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation")
    [wheel], [source] = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        python = environment(Path(folder) / "of_twine")
        run(python, "-m", "pip", "install", "--quiet", "twine")
        run(python, "-m", "twine", "check", "--strict", wheel, source)
        python = environment(Path(folder) / "of_wheel")
        run(python, "-m", "pip", "install", "--quiet", wheel)
        run(python, ROOT / "tests" / "project" / "examples.py")
        with tarfile.open(source) as packed:
            packed.extractall(folder, filter="data")
        unpacked = Path(folder) / f"mvref-{VERSION}"
        python = environment(Path(folder) / "of_source")
        run(python, "-m", "pip", "install", "--quiet", "pip>=25.1")  # which knows groups
        tested = ("-e", ".[book]", "--group", "test")
        run(python, "-m", "pip", "install", "--quiet", *tested, cwd=unpacked)
        run(python, "-m", "pytest", "-q", "-n", "2", *TESTS, cwd=unpacked)
    book = f"mvref-{VERSION}-book"
    shutil.make_archive(DIST / book, "zip", ROOT / "_build" / "html")
    print("Ready:", *(path.relative_to(ROOT) for path in sorted(DIST.iterdir())))


if __name__ == "__main__":
    main()
