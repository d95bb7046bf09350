"""Input handling: the input of a user becomes the input of a method, or a ValueError.

``fit`` calls ``_fit(X, codes, weights)`` of a method, which may rely on this:

* `X` is a :class:`~mvref.MultiView` of read-only float64 arrays and CSR matrices; ``_scores(X)``
  gets one with the same views and columns in the same order;
* ``X.observed[i, v]`` is False where sample i misses view v: a row of NaN; all else is finite;
* no sample is without a view, unless the class has ``_needs_a_view = False``, and no view without
  a sample;
* `codes` (n,) are 0 .. K - 1, the positions of the labels in ``classes_``, and each of the K >= 2
  occurs; a regressor gets finite float64 numbers;
* `groups` (n,), only of a :class:`Splitting` method, are numbers from 0, or None;
* `weights` (n,), only of a :class:`Weighted` method, are weights of samples > 0 times weights of
  classes > 0, or None, which means equal ones; samples of weight 0 are removed;
* ``_check_parameters`` has passed, and the BLAS has one thread unless ``_one_blas_thread = False``.

Only compositions, as in :mod:`mvref.core.members`, have ``_raw = True``: they also take words and
single missing values. This is all that a reader of a method needs. The modules: ``fit``,
``samples`` (for an estimator), ``containers`` (forms of input), ``ids`` (matching of rows),
``tables`` (a single one), ``arrays`` (storage of a view), ``views`` (the MultiView), ``labels``
(and weights), ``checks``, ``threads``.
"""

# ruff: noqa: F401, re-exports

from .arrays import (
    all_nan_rows,
    freeze,
    is_encoded,
    root_mean_squares,
    rows_of,
    take_rows,
    view_features,
    with_nan_rows,
)
from .checks import (
    NothingLearntWarning,
    check_choice,
    check_kernel,
    check_number,
    check_votable,
    memory_for,
    shown,
    warn_caller,
    warn_if_few_complete,
    warn_of_views_by_class,
)
from .containers import is_collection_of_views, view_columns
from .fit import MultiViewInput, OnePreparation, Scored, Splitting, Weighted
from .ids import check_ids, cleaned, join_report, warn_of_spellings
from .labels import (
    check_length,
    labels_of,
    validate_groups,
    validate_numbers,
    validate_targets,
)
from .samples import validate_views
from .tables import as_numbers, as_table_of_numbers
from .threads import one_blas_thread
from .typing import (
    TYPE_CHECKING,
    Any,
    ArrayLike,
    BaseEstimator,
    Callable,
    ClassWeight,
    Estimators,
    Iterable,
    Kernel,
    KernelWidth,
    Literal,
    Mapping,
    RandomState,
    Self,
    Sequence,
    Splitter,
    View,
    ViewColumns,
    Views,
)
from .views import MultiView, as_multiview, stack_samples
