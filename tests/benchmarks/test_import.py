"""What `import mvref` costs beyond the parts of scikit-learn that it uses; run by ``make bench``.

Each time is from a process of its own and from Python's own clock of imports.
"""

import subprocess
import sys
from collections import Counter

import numpy as np

ROUNDS = 5


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)


def imported(code):
    """The modules that code imports -> milliseconds of each without those that it imports."""
    lines = python("-X", "importtime", "-c", code).stderr.splitlines()
    parts = [line.removeprefix("import time:").split("|") for line in lines if "|" in line]
    return {name.strip(): int(self) / 1e3 for self, _, name in parts if self.strip().isdigit()}


def test_import(benchmark):
    """Little beside scikit-learn itself, which imports pandas and joblib."""
    known = [name for name in imported("import mvref") if name.startswith("sklearn")]
    first = f"import {', '.join(known)}"
    sklearn, mvref = [], []
    packages = Counter()
    for _ in range(ROUNDS):
        before, both = imported(first), imported(f"{first}; import mvref")
        beyond = {name: ms for name, ms in both.items() if name not in before}
        sklearn.append(sum(both.values()) - sum(beyond.values()))
        mvref.append(sum(beyond.values()))
        for name, ms in beyond.items():
            packages[name.partition(".")[0]] += ms / ROUNDS
    share = float(np.median(mvref) / np.median(sklearn))
    print(f"\nimport, medians of {ROUNDS} processes")
    print(f"  {'scikit-learn and what it imports':34s} {np.median(sklearn):8.1f} ms")
    print(f"  {'mvref beyond that':34s} {np.median(mvref):8.1f} ms, {share:.2f} of it")
    for package, ms in packages.most_common(6):
        print(f"    {package:32s} {ms:8.1f} ms")
    benchmark.extra_info.update(share=share)
    benchmark.pedantic(python, args=("-c", "import mvref"), rounds=3)
    assert share < 0.25
