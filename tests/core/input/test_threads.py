"""One BLAS thread while a method learns, whoever else learns at the time."""

import re
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

import mvref
from mvref import (
    MVLSVM,
    LandmarkProjection,
    MultiView,
    PatternClassifier,
    PerView,
    PerViewClassifier,
    ViewDropout,
    fit_in_chunks,
)
from mvref.core.input import fit as way_in
from mvref.core.input import threads as module
from mvref.core.input.threads import one_blas_thread
from mvref.mvna_kmhks import KMHKS
from mvref.theory.stability import measure_stability
from tests.literal import toy_views
from tests.test_api import CHEAP

VIEWS, Y = toy_views(0, m=40)


def threads():
    """The most that a BLAS has; one that cannot have more than one does not count."""
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if threads() != 2:
            pytest.skip("this BLAS has one thread only")
        yield


def test_two_fits_at_a_time_give_back_what_the_first_one_found():
    """In, in, out, out: with a limit of each the second one would leave one thread behind."""
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    assert threads() == 1
    first.__exit__(None, None, None)
    assert threads() == 1
    second.__exit__(None, None, None)
    assert threads() == 2


def test_an_error_gives_them_back():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert threads() == 2


def test_fits_in_threads():
    """Many at a time, and afterwards all threads are there."""
    fits = [
        threading.Thread(target=MVLSVM(10, random_state=s).fit, args=(VIEWS, Y)) for s in range(8)
    ]
    for fit in fits:
        fit.start()
    for fit in fits:
        fit.join()
    assert threads() == 2


def test_a_blas_that_is_loaded_later_is_limited_too(monkeypatch):
    """The libraries are looked for again after an import, and not at every fit."""
    with one_blas_thread():
        pass
    made, controller = [], module.ThreadpoolController
    monkeypatch.setattr(module, "ThreadpoolController", lambda: made.append(0) or controller())
    for expected in (0, 1, 1):
        with one_blas_thread():
            assert threads() == 1 and len(made) == expected
        monkeypatch.setitem(sys.modules, "a_package_with_a_blas", None)


# The time of these is one factorisation of n rows and columns, or that of classifiers of the user.
FREE = {"Concat", "Fusion", "KMHKS", "LaplacianCompletion", "MVMV", "Mono"}
# All other public methods learn; fit_transform is fit, then transform.
READ = re.compile(
    "(predict|predict_proba|decision_function|score|transform|fit_transform|restrict|represent"
    "|decompose|order_weights|view_scores|pair_scores)$|get_|set_"
)
GIVEN = {
    "fit": (VIEWS, Y),
    "fit_latent": (np.hstack(VIEWS), Y),
    "path": (VIEWS, Y, [{}, {"tol": 1e-2}]),
    "partial_fit": (VIEWS, Y, [0, 1]),
}
WAYS = [
    (name, way)
    for name, method in mvref.all_methods().items()
    for way in dir(method)
    if not way.startswith("_") and callable(getattr(method, way)) and not READ.match(way)
]


def unlimited(learn):
    """The functions of mvref that ran with more threads than one, as (module, name)."""
    blas, seen = ThreadpoolController().select(user_api="blas").lib_controllers, set()

    def watch(frame, event, _):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("mvref.") and "core.input" not in module:
            if max(library.num_threads for library in blas) > 1:
                seen.add((module, frame.f_code.co_qualname))

    sys.setprofile(watch)
    try:
        learn()
    finally:
        sys.setprofile(None)
    return seen


def test_who_is_free():
    """The free, and predictions, which are few large products, but not their imputation."""
    methods = mvref.all_methods()
    assert {name for name, method in methods.items() if not method._one_blas_thread} == FREE
    seen = unlimited(lambda: KMHKS().fit(VIEWS, Y))
    gaps = MultiView(VIEWS).drop_views(0.3, random_state=0)
    seen |= unlimited(lambda: MVLSVM(10).fit(VIEWS, Y).predict(gaps))
    names = {name for _, name in seen}
    assert {"HoKashyapClassifier._fit", "MVLSVM._scores"} <= names
    assert not {"MVLSVM._fit", "_combinations"} & names


@pytest.mark.parametrize("name, way", [pair for pair in WAYS if pair[0] not in FREE])
def test_every_public_way_to_learn_has_one_thread(name, way, monkeypatch):
    """All that runs between call and return does, but for the checks of what was given."""
    monkeypatch.setattr(way_in, "warn_if_nothing_learnt", lambda *given: None)  # it predicts
    model = mvref.all_methods()[name](**CHEAP.get(name, {}))
    if way == "partial_fit":
        model.set_params(solver="sgd")
    given = GIVEN[way][:2] if name == "MVMRegressor" else GIVEN[way]
    done = list if way == "path" else id  # it learns while it is read
    seen = unlimited(lambda: done(getattr(model, way)(*given)))
    checks = rf"_check|check_|__init__|streams|_solver|\.{way}$"
    assert [name for _, name in seen if not re.search(checks, name)] == []
    assert threads() == 2


SQUARED = MVLSVM(10, loss="squared_hinge", random_state=0)
WITHIN = {
    "fit_in_chunks": lambda: fit_in_chunks(SQUARED, lambda: [(VIEWS, Y)] * 2),
    "measure_stability": lambda: measure_stability(SQUARED, VIEWS, Y, n_replacements=2),
    "PatternClassifier": lambda: PatternClassifier(SQUARED).fit(VIEWS, Y),
    "PerViewClassifier": lambda: PerViewClassifier(SQUARED, combine="vote").fit(VIEWS, Y),
    "ViewDropout": lambda: ViewDropout(SQUARED).fit(VIEWS, Y),
    "PerView": lambda: PerView(LandmarkProjection(5)).fit(VIEWS, Y),
}


@pytest.mark.parametrize("name", WITHIN)
def test_a_method_within_something_else_has_one_thread(name):
    names = map(".".join, unlimited(WITHIN[name]))
    learning = r"(newton_svm|linear_svm|out_of_core)\.|(MVLSVM\._?|LandmarkProjection\.)fit"
    assert [name for name in names if re.search(learning, name)] == []
