"""One BLAS thread while a method learns, whoever else learns at the time."""

import sys
import threading

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from mvref import MVLSVM, PerViewClassifier
from mvref.core.input import threads as module
from mvref.core.input.threads import one_blas_thread
from mvref.mvna_kmhks import KMHKS
from tests.literal import toy_views

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


def test_who_is_limited(monkeypatch):
    """Learning is; one large factorisation, members of the user and predictions are not."""
    seen = []

    def watched(cls, name):
        method = getattr(cls, name)
        monkeypatch.setattr(cls, name, lambda *a, **k: (seen.append(threads()), method(*a, **k))[1])

    for cls in (MVLSVM, KMHKS, PerViewClassifier):
        watched(cls, "_fit")
    watched(MVLSVM, "_scores")
    model = MVLSVM(10, random_state=0).fit(VIEWS, Y)
    assert seen == [1, 2]  # the second: of what it has learnt
    model.predict(VIEWS)
    KMHKS().fit(np.hstack(VIEWS), Y)
    PerViewClassifier(LogisticRegression()).fit(VIEWS, Y)
    assert seen[2:] == [2, 2, 2]


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
