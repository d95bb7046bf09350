"""The examples in docstrings of the experiments; pytest would import these under another name."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import mvref.experiments as experiments

MODULES = [found.name for found in walk_packages(experiments.__path__, "mvref.experiments.")]


def test_modules_are_found():
    assert {"mvref.experiments.engine", "mvref.experiments.report"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(import_module(name), optionflags=flags).failed == 0
