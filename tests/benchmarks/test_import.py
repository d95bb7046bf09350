"""What `import mvref` costs beyond the parts of scikit-learn that it uses; run by ``make bench``.

Each time is from a process of its own and from Python's own clock of imports.
"""

import subprocess
import sys

import numpy as np

ROUNDS = 5


def imported(code):
    """The modules that code imports -> milliseconds of each without those that it imports."""
    command = [sys.executable, "-X", "importtime", "-c", code]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    parts = [line.removeprefix("import time:").split("|") for line in lines if "|" in line]
    return {name.strip(): int(self) / 1e3 for self, _, name in parts if self.strip().isdigit()}


def test_import():
    """Little beside scikit-learn itself, which imports pandas and joblib."""
    known = [name for name in imported("import mvref") if name.startswith("sklearn")]
    first = f"import {', '.join(known)}"
    rounds = []
    for _ in range(ROUNDS):
        before, both = imported(first), imported(f"{first}; import mvref")
        beyond = sum(ms for name, ms in both.items() if name not in before)
        rounds.append((sum(both.values()) - beyond, beyond))
    sklearn, mvref = np.median(rounds, axis=0)
    print(f"\nimport: scikit-learn {sklearn:.0f} ms, mvref beyond that {mvref:.0f} ms")
    assert mvref < 0.25 * sklearn
