"""A pytest plugin: kernels are forked from a process that has imported what chapters import.

The imports of a kernel take longer than many a chapter; a chapter still has a process, a folder and
names of its own. `python -m pytest --nbval` alone, and systems but Linux, start kernels as ever.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import time

from jupyter_client.provisioning import local_provisioner

IMPORTED = ("ipykernel.kernelapp", "matplotlib.pyplot", "mvref.experiments.reproduction")


def serve(arguments, path, env, cwd):
    """Be a kernel; path: where it finds modules."""
    import matplotlib
    import pandas
    from ipykernel import kernelapp

    # What these two choose when they are imported, if that is by a kernel.
    matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"
    pandas.set_option("display.max_columns", 20)
    os.setsid()
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[:] = path
    kernelapp.launch_new_instance(argv=arguments)


class Kernel:
    """What a kernel's manager needs of `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command, *, env, cwd=None, **options):
        told = command[3:], PATH, dict(env), cwd or os.getcwd()
        self.process = FORKS.Process(target=serve, args=told)
        self.process.start()
        self.pid, self.wait = self.process.pid, self.process.join
        self.kill, self.terminate = self.process.kill, self.process.terminate
        while self.poll() is None and os.getpgid(self.pid) != self.pid:
            time.sleep(0.001)

    def poll(self):
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


if sys.platform == "linux":
    FORKS = multiprocessing.get_context("forkserver")
    FORKS.set_forkserver_preload(list(IMPORTED))
    told = subprocess.check_output(
        [sys.executable, "-c", "import json, sys; print(json.dumps(sys.path))"]
    )
    PATH = json.loads(told)[1:]
    local_provisioner.launch_kernel = Kernel
