"""The way in: what a user hands over becomes what a method learns from, or a ValueError.

Read in this order: ``views`` (the samples), ``storage`` (how one view is kept), ``columns``,
``validate`` (samples, labels and weights of an estimator), ``checks`` (its parameters), and
``threads``.
"""

from .checks import (
    NothingLearntWarning,
    check_choice,
    check_kernel,
    check_number,
    refuse_huge,
    warn_caller,
    warn_if_nothing_learnt,
)
from .columns import root_mean_squares, take_rows, view_features
from .storage import as_numbers, as_table_of_numbers, freeze, is_encoded, rows_of
from .threads import one_blas_thread
from .validate import (
    check_length,
    check_votable,
    sample_weights,
    validate_numbers,
    validate_targets,
    validate_views,
)
from .views import MultiView, as_multiview, stack_samples

__all__ = ["MultiView", "NothingLearntWarning", "as_multiview", "as_numbers", "as_table_of_numbers"]
__all__ += ["check_choice", "check_kernel", "check_length", "check_number", "check_votable"]
__all__ += ["freeze", "is_encoded", "one_blas_thread", "refuse_huge", "root_mean_squares"]
__all__ += ["rows_of", "sample_weights", "stack_samples", "take_rows", "validate_numbers"]
__all__ += ["validate_targets", "validate_views", "view_features", "warn_caller"]
__all__ += ["warn_if_nothing_learnt"]
