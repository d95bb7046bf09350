"""MVM: multi-view machines, interactions of all orders with shared factors.

Read in this order: ``estimator``, ``machine`` (what classifier and regressor share), ``model``
(scores, gradients, start, orders), ``solvers``.
"""

from .estimator import MVMClassifier, MVMRegressor

__all__ = ["MVMClassifier", "MVMRegressor"]
