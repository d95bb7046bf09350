"""MVM: multi-view machines, interactions of all orders with shared factors.

Read in this order: ``estimator`` (classifier and regressor), ``machine`` (what both do),
``model`` (scores, gradients, start, orders), ``solvers`` (L-BFGS, AdaGrad, alternating least
squares).
"""

from .estimator import MVMClassifier, MVMRegressor

__all__ = ["MVMClassifier", "MVMRegressor"]
