"""How many lines one opens to read a method, from its class to a prediction."""

import pytest

from mvref.experiments.fingerprint import _bindings, _names
from tests.one_page import MOST_LINES, cells_of, code_lines, n_lines

STOP = "mvref.core.input"  # what it promises is all that a reader needs of it
CAPS = {
    "mvref.mvl_svm.MVLSVM": 1135,
    "mvref.mwmvc2.MwMvC2": 630,
    "mvref.mvpo.MVPO": 1065,
    "mvref.mvm.MVMClassifier": 1530,
    "mvref.mvna_kmhks.MVNAKMHKS": 955,
}


def opened(module, name):
    """The definitions, (module, first line, last line), that a name leads to."""
    todo, seen, found = [(module, name)], set(), set()
    while todo:
        module, name = place = todo.pop()
        if place in seen or module.startswith(STOP):
            continue
        seen.add(place)
        for binding in _bindings(module).get(name, ()):
            if isinstance(binding, tuple):  # an import
                todo.append(binding)
                continue
            first = min(n.lineno for n in (binding, *getattr(binding, "decorator_list", ())))
            found.add((module, first, binding.end_lineno))
            todo += _names(binding, module)
    return found


@pytest.mark.parametrize("name", CAPS)
def test_lines_from_a_class_to_its_prediction(name):
    lines = sum(last - first + 1 for _, first, last in opened(*name.rsplit(".", 1)))
    assert CAPS[name] / 2 < lines <= CAPS[name]


@pytest.mark.parametrize("part", ["mvl_svm", "mwmvc2", "mvpo", "mvm", "mvna_kmhks"])
def test_a_method_from_scratch_is_short(part):
    assert n_lines(part) <= MOST_LINES
    if part in ("mvpo", "mvm"):  # in a few cells, of which none is long
        assert 3 <= len(cells_of(part)) <= 5
        cells = cells_of(part) + cells_of(part, "search")
        assert max(len(code_lines(source)) for source in cells) <= 15
