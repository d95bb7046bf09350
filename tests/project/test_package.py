"""The wheel is all of the package, the source distribution all of the repository."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MEGABYTES = 2.5
# Run far from the sources, so that only what is installed can be found.
SCRIPT = """
import sys
import mvref
from mvref import compare_methods, datasets
assert "site-packages" in mvref.__file__, mvref.__file__
assert "matplotlib" not in sys.modules
iris = datasets.load_iris_views()
quick = {"budget": 1, "n_splits": 2, "n_repeats": 1, "n_folds": 2, "verbose": False}
right = compare_methods(iris.X, iris.y, ["KMHKS"], **quick).table.loc["KMHKS", "score"] > 0.9
print(mvref.__version__, datasets.load_mfeat().X.n_samples, right)
"""
# What nobody needs to fit a model on arrays: tables, figures, what downloads, what has another
# licence. scikit-learn imports pandas where it finds it: it must not find it.
WITHOUT = """
import sys
missing = ["pandas", "matplotlib", "pyarrow", "distributed", "pooch", "cvxopt"]
sys.modules.update(dict.fromkeys(missing))
import mvref
from joblib.externals.loky import reusable_executor
assert reusable_executor._executor is None  # no workers wait
assert "mvref.experiments" not in sys.modules
del sys.modules["pandas"], sys.modules["pyarrow"]  # scikit-learn asks whether X is one of theirs

import numpy as np
from mvref.theory.stability import exact_hinge_svm
assert abs(exact_hinge_svm([[1.0], [1.0]], [1, 1], c=0.5)[0][0] - 0.5) < 1e-12
y = np.arange(30) % 2
views = [y[:, None] + np.random.default_rng(v).normal(size=(30, 3)) for v in range(2)]
quick = {"n_estimators": 5, "n_init": 1, "max_iter": 50, "random_state": 0}
ways = {}
for name, method in mvref.all_methods().items():
    known = quick.keys() & method().get_params().keys()
    ways[name] = lambda m=method(**{key: quick[key] for key in known}): m.fit(views, y)
said = {}
for name, way in ways.items():
    try:
        way()
    except ImportError as error:
        said[name] = str(error)
assert list(said) == ["FSMulti"], said
assert all('pip install "mvref[cvxopt]" (its licence is the GPL' in s for s in said.values())
assert "cvxopt" in mvref.rivals.FSMulti.__doc__
"""


def run(*command, cwd):
    without = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")  # what is new is compiled once
    env = {key: value for key, value in os.environ.items() if key not in without}
    return subprocess.run(command, cwd=cwd, env=env, text=True, capture_output=True)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder of the source distribution and of the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    copy = tmp_path_factory.mktemp("source") / "mvref"  # nothing is left behind in the sources
    made = ("__pycache__", ".git", ".venv", "_build", ".hypothesis", ".*_cache", "*.lock")
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*made))
    done = run(sys.executable, "-m", "build", "--no-isolation", "-o", folder, cwd=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist):
    [path] = dist.glob("*.whl")
    return path


def pip_of(python):
    """The pip that runs here, for another environment."""
    return sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"


@pytest.fixture(scope="module")
def empty_environment(tmp_path_factory):
    """The python of a fresh environment with the core requirements in it."""
    folder = tmp_path_factory.mktemp("environment")
    made = run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    assert made.returncode == 0, made.stderr
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = (*pip_of(python), "install", "--quiet", "--no-compile")  # most is never imported
    pins = re.findall(r"^[^\s#]+==[^\\\n]*", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    (folder / "pins.txt").write_text("\n".join(pins))  # with hashes they would ask for all hashes
    done = run(*pip, "-c", folder / "pins.txt", *PROJECT["dependencies"], cwd=folder)
    if done.returncode != 0:
        pytest.skip("no package registry can be reached to fill a fresh environment")
    return python


def closure(requirements):
    """The canonical names of the requirements and of everything that they require."""
    names, todo = set(), [Requirement(line) for line in requirements]
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if name in names or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        todo += map(Requirement, importlib.metadata.requires(name) or [])
    return names


def test_wheel_holds_every_module_and_every_data_set_and_no_ledger(wheel):
    packed = zipfile.ZipFile(wheel).infolist()
    names = {file.filename for file in packed}
    data = {path for path in (ROOT / "mvref" / "datasets" / "data").iterdir() if path.is_file()}
    assert data
    files = data | set((ROOT / "mvref").rglob("*.py")) | {ROOT / "mvref" / "py.typed"}
    assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    assert not [name for name in names if name.startswith(("tests", "book")) or "ledger" in name]
    assert sum(file.file_size for file in packed) < MEGABYTES * 1e6


def test_wheel_brings_both_licences(wheel):
    packed = zipfile.ZipFile(wheel)
    names = [name.split("/licenses/")[1] for name in packed.namelist() if "/licenses/" in name]
    assert sorted(names) == ["LICENSE", "mvref/datasets/data/NOTICE.txt"]
    [metadata] = [name for name in packed.namelist() if name.endswith("/METADATA")]
    assert f"License-Expression: {PROJECT['license']}\n" in packed.read(metadata).decode()


def test_source_distribution_holds_what_its_tests_need(dist):
    [path] = dist.glob("*.tar.gz")
    with tarfile.open(path) as packed:
        found = {name.partition("/")[2] for name in packed.getnames()}
    listed = [*ROOT.iterdir(), *(ROOT / ".github").rglob("*.*"), *(ROOT / ".ci").iterdir()]
    listed += [path for room in ("book", "mvref", "tests") for path in (ROOT / room).rglob("*.*")]
    wanted = {path.relative_to(ROOT) for path in listed if path.is_file()}
    made = {"__pycache__", ".ipynb_checkpoints"}
    wanted = {path.as_posix() for path in wanted if not made & set(path.parts)}
    unwanted = {".git", ".gitignore"} | {name for name in wanted if name.endswith(".lock")}
    assert wanted - found <= unwanted
    assert not [name for name in found if "__pycache__" in name]


def test_what_nobody_needs_to_fit_a_model_on_arrays():
    readme = (ROOT / "README.md").read_text()
    [six_lines] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    done = run(sys.executable, "-W", "ignore", "-c", WITHOUT + six_lines, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert f"prints `{float(done.stdout):.3f}`" in readme


PINNED = f"\nscikit-learn=={importlib.metadata.version('scikit-learn')} "


@pytest.mark.skipif(
    PINNED not in (ROOT / "requirements.txt").read_text(),
    reason="an environment of the pinned versions is compared with this one, of others",
)
def test_wheel_in_an_empty_environment_brings_the_core_requirements_only(wheel, empty_environment):
    pip = pip_of(empty_environment)
    # Without an index: whatever the wheel asked for beyond its core would be missing here.
    done = run(*pip, "install", "--no-index", wheel, cwd=wheel.parent)
    assert done.returncode == 0, done.stderr
    listed = run(*pip, "list", "--format=freeze", cwd=wheel.parent).stdout.split()
    installed = {canonicalize_name(line.split("==")[0]) for line in listed}
    assert installed - {"mvref"} == closure(PROJECT["dependencies"])
    done = run(empty_environment, "-c", SCRIPT, cwd=wheel.parent)
    assert done.stdout.split() == [PROJECT["version"], "2000", "True"], done.stderr
    for words in (["list"], ["run", "mvl_svm.fig3"]):
        done = run(empty_environment, "-m", "mvref", *words, cwd=wheel.parent)
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert "the repository of mvref, not of the installed package: clone" in done.stderr
    done = run(empty_environment, "-m", "mvref", "--help", cwd=wheel.parent)
    assert done.returncode == 0 and "compare-tables" in done.stdout
