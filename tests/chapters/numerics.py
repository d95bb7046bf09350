"""Do the printed numbers of the chapters survive another processor? (`make numerics`)

Repeats `make outputs` with one and two BLAS threads and with the OpenBLAS kernels of three
processors, which add up in different orders. One line for each combination; exit status 1 if any
of them failed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ("Haswell", "SkylakeX", "Zen")
THREADS = (1, 2)
WHICH_KERNEL = """
import numpy, scipy.linalg, threadpoolctl
print(*{pool.get("architecture", "none") for pool in threadpoolctl.threadpool_info()
        if pool["user_api"] == "blas"})
"""


def environment(kernel, threads):
    count = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return os.environ | count | {"OPENBLAS_CORETYPE": kernel}


def output_of(command, env):
    """Run a command; its exit status and everything that it printed."""
    done = subprocess.run(
        command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.returncode, done.stdout


def try_one(kernel, threads):
    """One combination: print its line, and say whether it passed."""
    env = environment(kernel, threads)
    # OpenBLAS may answer with another kernel (many builds serve Zen with Haswell's): say which.
    used = output_of([sys.executable, "-c", WHICH_KERNEL], env)[1].strip()
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "book/execute.py", "--cache", cache, "--compare"]
        status, text = output_of(command, env)
    summary = text.splitlines()[-1]
    verdict = "passed" if status == 0 else "FAILED"
    print(f"{verdict}  {kernel} (in use: {used}), {threads} threads: {summary}", flush=True)
    if status != 0:
        print(text, flush=True)
    return status == 0


def main():
    passed = [try_one(kernel, threads) for kernel in KERNELS for threads in THREADS]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
