"""Do the printed numbers of the chapters survive another processor? (`make numerics`)

Repeats `make outputs` with one and two BLAS threads and with the OpenBLAS kernels of three
processors, which add up in different orders, and once more with the data sets of this machine in
reach. One line for each combination; exit status 1 if any of them failed.
"""

import os
import subprocess
import sys
from pathlib import Path

from mvref import datasets

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ("Haswell", "SkylakeX", "Zen")
THREADS = (1, 2)
WHICH_KERNEL = """
import numpy, scipy.linalg, threadpoolctl
print(*{pool.get("architecture", "none") for pool in threadpoolctl.threadpool_info()
        if pool["user_api"] == "blas"})
"""


def output_of(command, env):
    """Run a command; its exit status and everything that it printed."""
    done = subprocess.run(
        command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.returncode, done.stdout


def try_one(name, *options, **variables):
    """One combination: print its line, and say whether it passed."""
    status, text = output_of(["make", "outputs", *options], os.environ | variables)
    verdict = "passed" if status == 0 else "FAILED"
    print(f"{verdict}  {name}: {text.splitlines()[-1]}", flush=True)
    if status != 0:
        print(text, flush=True)
    return status == 0


def main():
    passed = []
    for kernel in KERNELS:
        for count in map(str, THREADS):
            env = {"OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": count}
            env["OPENBLAS_NUM_THREADS"] = count
            # OpenBLAS may answer with another kernel (many builds serve Zen with Haswell's).
            used = output_of([sys.executable, "-c", WHICH_KERNEL], os.environ | env)[1].strip()
            passed.append(try_one(f"{kernel} (in use: {used}), {count} threads", **env))
    n_here = len([where for where in datasets.available().values() if where != "embedded"])
    passed.append(try_one(f"{n_here} fetched data sets in reach", "NO_DATA="))
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
