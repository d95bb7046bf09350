"""Who uses the cores: one BLAS thread while a method learns, and ``n_jobs`` beside it.

Learning is many small and middling products. On them BLAS threads that wait for each other gain
nothing on an idle machine, and on a busy one made a fit more than ten times as long; with
``n_jobs`` they would multiply. Two kinds of estimators are left alone (``_one_blas_thread =
False``): those whose time is one factorisation of n rows and columns, and those whose members are
the user's. Predictions are few large products and are left alone, too, but for imputation (Eq. 11
of MVL-SVM), which solves a small system for every pattern of views.
"""

import sys
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_LOCK = Lock()
_inside = 0  # how many threads of Python are in a `one_blas_thread`
_limits = None  # what the last of them gives back


@lru_cache(maxsize=1)  # of the libraries that are loaded: an import may bring another one
def _controller(n_modules):
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Limit the BLAS to one thread; the last one to leave gives back what the first one found.

    The limit belongs to the process: were each to give back what it found itself, two fits at a
    time in threads could leave it behind.
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
