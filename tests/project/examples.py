"""The examples of README, welcome page and cheat sheet, each in a process far from the sources.

Needs what `pip install .` brings, nothing else: `python tests/project/examples.py` runs them all.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "book/intro.md", "book/cheat_sheet.md")


def examples():
    """Return name -> code of each block of Python of the pages."""
    blocks = {}
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL), 1):
            blocks[f"{page} {number}"] = code
    return blocks


def run(code):
    """Run code with warnings as errors; return the finished process, its output as text."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "error", "-c", code]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)


if __name__ == "__main__":
    for name, code in examples().items():
        done = run(code)
        print(f"{name}\n{done.stdout}{done.stderr}")
        if done.returncode != 0:
            sys.exit(f"{name} does not run")
