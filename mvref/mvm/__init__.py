"""MVM: multi-view machines, interactions of all orders between views with shared factors.

Read in this order: ``estimator``, ``machine`` (the base of classifier and regressor),
``model`` (scores, gradients, start, orders), ``solvers``.

One page                   Here
``products``, ``scores``   ``Design``
``products_of_others``     ``leave_one_out``, for every group of views
``objective``              ``Objective``
``live_start``             ``start_factors``
``fit``                    ``lbfgs``
"""

from .estimator import MVMClassifier, MVMRegressor

__all__ = ["MVMClassifier", "MVMRegressor"]
