"""Nobody waits: every classifier with its defaults, within 6 s at n = 2000 and 30 s at n = 8000.

That is on a machine where an SVC takes `SVC` seconds on 2000 samples: it is trained in each run,
and the limits are multiples of its time. 500 samples, too, take some of the classifiers seconds,
since they overlap more: 10 at most.

Five Gaussian classes in three views of 20 columns. Each fit has a process of its own, one thread,
and is stopped at twice the limit; seconds are of the processor. A method may refuse instead: a
ValueError of one sentence that names the way out. What people take instead runs along, and may take
as long as it does. With ``--table`` processor, BLAS and versions stand above the numbers.
"""

import json
import platform
import resource
import subprocess
import sys
from importlib.metadata import version

import pandas as pd
import pytest
from sklearn.base import is_classifier
from threadpoolctl import threadpool_info

from mvref import all_methods
from mvref.experiments.speed_peers import INSTEAD, installed

LIMIT, SVC = {500: 10, 2000: 6, 8000: 30}, 0.2
CLASSIFIERS = [name for name, method in all_methods().items() if is_classifier(method())]
STOPPED = float("inf")
FIT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.svm import SVC
from mvref import MultiView
from mvref.experiments.speed_peers import build, draw_five_classes
name, n = sys.argv[1], int(sys.argv[2])
views, y = draw_five_classes(n + 1000, 0)
model = build(name, 0)
columns, target = draw_five_classes(2000, 0)
svc = float("inf")
for _ in range(3):
    start = time.process_time()
    SVC(C=10, gamma=1 / 60).fit(np.hstack(columns), target)
    svc = min(svc, time.process_time() - start)
start = time.process_time()
try:
    model.fit(MultiView([view[:n] for view in views]), y[:n])
except ValueError as refusal:
    print(json.dumps({"refusal": str(refusal)}))
else:
    seconds = time.process_time() - start
    score = np.mean(model.predict(MultiView([view[n:] for view in views])) == y[n:])
    print(json.dumps({"seconds": seconds, "score": score, "svc": svc}))
"""


def fit(name, n, limit):
    """What a fit in a process of its own tells; no seconds if it was stopped."""

    def stop_late():
        resource.setrlimit(resource.RLIMIT_CPU, 2 * (2 * limit + 10,))

    done = subprocess.run(
        [sys.executable, "-c", FIT, name, str(n)], capture_output=True, text=True,
        preexec_fn=stop_late,
    )  # fmt: skip
    if done.returncode > 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout) if done.stdout else {"seconds": STOPPED, "score": float("nan")}


@pytest.fixture(scope="module")
def table(request):
    """Rows of the whole table, which is printed in the end, and stored where ``--table`` says."""
    rows = []
    yield rows
    found = pd.DataFrame(rows, columns=["method", "samples", "seconds", "accuracy"])
    print("\n\nseconds with the defaults, and test accuracy\n", found.to_string())
    if path := request.config.getoption("--table"):
        largest = found[found["samples"] == max(LIMIT)]
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(f"# {machine()}\n")
            largest.to_csv(file, index=False, float_format="%.4g", lineterminator="\n")


def machine():
    """Processor, BLAS and versions, in one line."""
    model = [line for line in open("/proc/cpuinfo") if line.startswith("model name")]
    of = model[0].partition(":")[2].strip() if model else platform.machine()
    blas = next(lib for lib in threadpool_info() if lib["user_api"] == "blas")
    names = ("numpy", "scipy", "scikit-learn", "lightgbm")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    blas = f"{blas['internal_api']} {blas['version']} ({blas['architecture']})"
    return f"{of}; {blas}; Python {platform.python_version()}, {versions}"


@pytest.mark.parametrize("name", [*CLASSIFIERS, *filter(installed, INSTEAD)])
def test_nobody_waits(table, name):
    in_time = []
    for n, limit in LIMIT.items():
        told = fit(name, n, limit)
        if refusal := told.get("refusal"):
            print(f"\n{name} refuses n = {n}: {refusal}")
            assert "=" in refusal and "\n" not in refusal
        else:
            table.append((name, n, told["seconds"], told["score"]))
            in_time.append(told["seconds"] <= limit / SVC * told.get("svc", 0.0))
    assert all(in_time) or name in INSTEAD
