"""The fingerprint of a row's code: what changes it, and what does not."""

import os
import subprocess
import sys
from functools import partial

import pytest

from mvref.experiments import fingerprint as module
from mvref.experiments.engine import Job, Ledger
from mvref.experiments.items import ITEMS

PROTOCOL = '''
"""Head."""
from . import data
from .methods import METHODS, fit

UNUSED = 1

def tuned(name, method, seed):
    """What it does."""
    from .lazy import measure
    return measure(fit(METHODS[method], data.LOADERS[name]))
'''
METHODS = """
from .solver import Model as Base
METHODS = {"first": lambda: Base(), "second": lambda: second(), "both": lambda: both, "third": 3}
both = ["second"]
def second():
    return 2
def fit(model, data):
    return model
"""
FILES = {
    "__init__.py": "",
    "protocol.py": PROTOCOL,
    "methods.py": METHODS,
    "data.py": "from .loaders import a, b\nLOADERS = {'a': a, 'b': b}\n",
    "loaders/__init__.py": "from .of_a import a\nfrom .of_b import b\n",
    "loaders/of_a.py": "def a():\n    return 1\n",
    "loaders/of_b.py": "def b():\n    return 1\n",
    "lazy.py": "TOL = 1e-3\ndef measure(x):\n    return x < TOL\n",
    "solver.py": "class Model:\n    tol = 1\n",
}


@pytest.fixture
def codes(tmp_path, monkeypatch):
    """Function (changes of files) -> fingerprints of first, second and both on a, first on b."""

    def tuned(seed):
        """Stands for the function of the small package."""

    tuned.__module__, tuned.__qualname__ = "small.protocol", "tuned"
    monkeypatch.setattr(module, "ROOT", tmp_path / "small")

    def clear():
        for value in vars(module).values():
            getattr(value, "cache_clear", lambda: None)()

    def of(changes=()):
        clear()
        for name, text in (FILES | dict(changes)).items():
            path = tmp_path / "small" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [
            module.fingerprint(Job(data, method, {}, 0, ("x",), partial(tuned, data, method)), 0)
            for method, data in (("first", "a"), ("second", "a"), ("both", "a"), ("first", "b"))
        ]

    yield of
    clear()


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("protocol.py", "What it does.", "What it did.", "...."),
        ("protocol.py", "\n\n", "\n\n\n# a comment\n", "...."),
        ("protocol.py", "UNUSED = 1", "UNUSED = 2", "...."),
        ("protocol.py", "measure(fit", "-measure(fit", "xxxx"),
        ("methods.py", "return model", "return -model", "xxxx"),
        ("methods.py", "return 2", "return 3", ".xx."),
        ("methods.py", "fit(model, data):", "fit(model: Base, data: int) -> Base:", "...."),
        ("methods.py", '"third": 3', '"third": 4, "fourth": 4', "...."),
        ("methods.py", '"first": lambda: ', '"first": lambda: -', "x..x"),
        ("solver.py", "tol = 1", "tol = 2", "x..x"),
        ("solver.py", "tol = 1", "tol = 1\nclass Other(Model):\n    pass", "...."),
        ("lazy.py", "1e-3", "1e-2", "xxxx"),
        ("loaders/of_a.py", "1", "2", "xxx."),
        ("loaders/of_b.py", "1", "2", "...x"),
    ],
)
def test_what_a_row_depends_on_changes_its_fingerprint(codes, file, old, new, changed):
    before = codes()
    assert len(set(before)) == 4
    assert old in FILES[file]
    after = codes({file: FILES[file].replace(old, new)})
    assert "".join(".x"[a != b] for a, b in zip(before, after, strict=True)) == changed


def test_code_may_be_moved(codes):
    moved = {"solver.py": "from .core import Model\n", "core.py": FILES["solver.py"]}
    assert codes(moved) == codes()


def test_what_a_job_is_given_counts():
    def code(seed=0, **options):
        return module.fingerprint(Job("a", "b", {}, 0, ("x",), partial(print, **options)), seed)

    assert code(grid=(1.0, 2.0)) == code(grid=(1.0, 2.0))
    assert len({code(), code(seed=1), code(grid=(1.0, 2.0)), code(grid=(1.0, 3.0))}) == 4

    def copied(value):
        return lambda seed: {"x": value}

    assert code(function=copied(1.0)) == code(function=copied(1.0)) != code(function=copied(2.0))


def test_jobs_of_every_item_have_a_fingerprint_of_the_same_code_in_every_process():
    """A description with an address of memory would be another one in every process."""
    here = [name for name in ITEMS if ITEMS[name].paper in ("mvm", "study", "speed")]
    for name in here:
        jobs = ITEMS[name].jobs(ITEMS[name].datasets[0], True, Ledger("none").read())
        for job in list(jobs)[:40]:
            assert " at 0x" not in repr(module._call(job.function, []))
    code = "from mvref.experiments.fingerprint import fingerprint as f; from mvref.experiments "
    code += "import ITEMS; print(f(next(ITEMS['mvl_svm.extensions'].jobs('mfeat', 1, 0)), 0))"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    elsewhere = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    job = next(ITEMS["mvl_svm.extensions"].jobs("mfeat", 1, 0))
    assert elsewhere.strip() == module.fingerprint(job, 0)


def test_a_job_of_mvref_reaches_its_protocol_its_method_and_its_loader():
    job = next(ITEMS["mvl_svm.extensions"].jobs("mfeat", True, None))
    roots = []
    module._call(job.function, roots)
    reached = {getattr(node, "name", None) for node in module._reached(tuple(roots), {"mfeat"})}
    assert {"extension_accuracy", "load_problem", "MVLSVM", "load_mfeat", "MultiView"} <= reached
    assert not {"CAPO", "MVPO", "fetch_uwave"} & reached
