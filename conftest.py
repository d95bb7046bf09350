"""What all tests share: no windows, the same random examples, and what some of them need.

`@pytest.mark.data(name, ...)` names data sets, or parameters of the test that hold such names (so
does a fixture that is called like a data set);
`@pytest.mark.papers` asks for the texts of the papers. Where they are not here the test is skipped.
"""

import os
import shlex
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from mvref.datasets._sources import BY_HAND, FOLDERS

with suppress(ImportError):  # which only the tests of the book need
    import matplotlib

    # Not the variable MPLBACKEND: the kernels that run chapters would inherit it.
    matplotlib.use("Agg")

settings.register_profile("mvref", derandomize=True, deadline=None)
settings.load_profile("mvref")


@cache
def data_sets():
    """The data sets that every machine has, and those that are on this one."""
    from mvref.experiments.items import data_here

    root = os.environ.get("MVREF_DATA")
    here = data_here() | {
        path.name for path in (Path(root).glob("*/*") if root else ())
    }  # single files
    with pytest.MonkeyPatch.context() as nowhere:
        nowhere.setenv("MVREF_DATA", "")
        nowhere.setenv("MVREF_CACHE", __file__)  # nothing lies below a file
        always = data_here() | {"two moons"}
    return always, here | always


def needed(item):
    """The data sets of a test that not every machine has."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    asked = [name for mark in item.iter_markers("data") for name in mark.args]
    asked += sorted({"load", *FOLDERS} & set(getattr(item, "fixturenames", ())))
    asked = [parameters.get(name, name) for name in asked]
    return [name for name in asked if not is_among(name, data_sets()[0])] if asked else []


def is_among(name, known):
    """Whether a data set is known, or is made of one: "mfeat-zer-mor" of "mfeat"."""
    return name in known or any(name.startswith(f"{other}-") for other in known)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Make `-m data` and `-m papers` choose the tests that a machine without them skips."""
    for item in items:
        missing = needed(item)
        item.own_markers = [mark for mark in item.own_markers if mark.name != "data"]
        if missing:
            item.add_marker(pytest.mark.data(*missing))


def pytest_runtest_setup(item):
    for mark in item.iter_markers("data"):
        for name in mark.args:
            if is_among(name, data_sets()[1]):
                continue
            file = max(filter(name.startswith, BY_HAND), key=len, default=name)
            pytest.skip(
                f"data set {name} is not on this machine. {BY_HAND.get(file, f'Put {name}')} into "
                f"the folder {FOLDERS.get(file, Path(name).stem)} of the folder that the variable "
                "MVREF_DATA names"
            )
    if item.get_closest_marker("papers") and not os.environ.get("MVREF_PAPERS"):
        pytest.skip("the texts of the papers are not here: MVREF_PAPERS names their folder")


def pytest_terminal_summary(terminalreporter):
    """Tell how the first test that failed is run alone."""
    failed = terminalreporter.stats.get("failed", []) + terminalreporter.stats.get("error", [])
    if failed:
        notebook, cell, _ = failed[0].nodeid.partition(".ipynb::Cell")
        name = f"--nbval {notebook}.ipynb" if cell else shlex.quote(failed[0].nodeid)
        terminalreporter.write_line(f"The first one alone: .venv/bin/python -m pytest {name}")
