"""The way in: what a user hands over becomes what a method learns from, or a ValueError.

Read in this order: ``fit``, ``validate`` (samples, labels and weights of an estimator), ``views``
(the samples), ``storage`` (how a view is kept), ``columns``, ``checks``, ``threads``.
"""

from .checks import NothingLearntWarning, check_choice, check_kernel, check_number, warn_caller
from .columns import root_mean_squares, take_rows, view_features
from .fit import MultiViewInput, Weighted
from .storage import as_numbers, as_table_of_numbers, freeze, is_encoded, rows_of
from .validate import (
    check_length,
    check_votable,
    sample_weights,
    validate_numbers,
    validate_targets,
    validate_views,
)
from .views import MultiView, as_multiview, stack_samples

__all__ = ["MultiView", "MultiViewInput", "NothingLearntWarning", "Weighted", "as_multiview"]
__all__ += ["as_numbers", "as_table_of_numbers", "check_choice", "check_kernel", "check_length"]
__all__ += ["check_number", "check_votable", "freeze", "is_encoded", "root_mean_squares"]
__all__ += ["rows_of", "sample_weights", "stack_samples", "take_rows", "validate_numbers"]
__all__ += ["validate_targets", "validate_views", "view_features", "warn_caller"]
