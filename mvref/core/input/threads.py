"""Use of the cores: one BLAS thread while a method learns, besides ``n_jobs``.

Learning consists of many small and medium products. On these, BLAS threads that wait for each other
gain nothing on an idle computer, and on a busy one made a fit more than ten times as long;
``n_jobs`` would multiply them. Two kinds of estimators are not limited (``_one_blas_thread =
False``): those dominated by one factorisation of n rows and columns, and those with the user's
members. Predictions are few large products and are not limited either, except for imputation (Eq.
11 of MVL-SVM), which solves a small system for every pattern of views.
"""

import sys
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_LOCK = Lock()
_inside = 0  # number of Python threads in `one_blas_thread`
_limits = None  # limits that the last of them restores


@lru_cache(maxsize=1)  # of the loaded libraries: an import may load another one
def _controller(n_modules):
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Limit the BLAS to one thread; the last caller to leave restores what the first one found.

    The limit belongs to the process: if each caller restored what it found itself, two simultaneous
    fits in threads could leave it behind.
    """
    global _inside, _limits
    with _LOCK:
        if _inside == 0:
            _limits = _controller(len(sys.modules)).limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()
