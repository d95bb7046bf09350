"""Types of the public names: all are there, and a type checker reads them as a user means them."""

import importlib
import inspect
import subprocess
import sys

import pytest

import mvref
from tests.project.test_house import METHODS, ROOT, full_name, is_exception, methods_of

MODULES = ["mvref", *(f"mvref.{part}" for part in (*METHODS, "datasets", "rivals"))]
MODULES += [f"mvref.theory.{name}" for name in (*mvref.theory.__all__, "vote_bounds")]


def public_functions():
    """Full name -> function: what is exported, constructors, public methods and properties."""
    for name in MODULES:
        module = importlib.import_module(name)
        for exported in getattr(module, "__all__", vars(module)):
            value = getattr(module, exported)
            is_own = getattr(value, "__module__", "").startswith(name)
            if inspect.isfunction(value) and is_own and exported[0] != "_":
                yield inspect.unwrap(value)
            if inspect.isclass(value) and is_own and not is_exception(value):
                bases = [base for base in value.__mro__ if base.__module__.startswith("mvref")]
                members = [item for base in bases for item in vars(base).items()]
                yield from (m.fget for k, m in members if isinstance(m, property) and k[0] != "_")
                yield from (member for key, member in members if key == "__init__")
                yield from methods_of(value)


PUBLIC = {full_name(function): function for function in public_functions()}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_signature_says_its_types(name):
    signature = inspect.signature(PUBLIC[name])
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    assert [p.name for p in parameters if p.annotation is p.empty] == []
    assert name.endswith("__init__") or signature.return_annotation is not signature.empty


SCRIPT = """
import numpy as np
from sklearn.linear_model import LogisticRegression
import mvref
from mvref import MVLSVM, Comparison, MultiView, PerViewClassifier, compare_methods, datasets
from mvref.theory.stability import radius

data: datasets.MultiViewDataset = datasets.load_iris_views()
few: MultiView = data.X[:9].select("petal")
model: MVLSVM = MVLSVM(20, loss="squared_hinge", c=10, random_state=0).fit(data.X, data.y)
labels: np.ndarray = model.predict([np.ones((2, 2)), np.zeros((2, 2))])
few_views = {"a": [[1.0], [2.0]], "b": np.ones((2, 3))}
machines: list[MVLSVM] = [*model.path(few_views, ["no", "yes"], [{"c": 1}])]
right: float = PerViewClassifier({"a": LogisticRegression()}).score(data.X, data.y)
found: Comparison = compare_methods(data.X, data.y, ["MVLSVM"], n_splits=2)
bound: float = radius(10, n_views=2)

mvref.MVLSWM()  # wrong
MVLSVM(loss="hinges")  # wrong
MVLSVM(c="large")  # wrong
model.fit(3, data.y)  # wrong
model.fit(data.X)  # wrong
model.path(data.X, data.y, [1.0, 10.0])  # wrong
sure: str = model.score(data.X, data.y)  # wrong
datasets.read_folder(3)  # wrong
radius(0.5, 2)  # wrong
"""


def test_a_type_checker_accepts_right_calls_and_refuses_wrong_ones(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    told = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    lines = enumerate(SCRIPT.splitlines(), 1)
    assert told == {i for i, line in lines if line.endswith("# wrong")}, done.stdout + done.stderr
