"""MwMvC2: a weighted majority vote on two levels, of voters within views and of views.

Read in this order: ``estimator`` (the classifier and its voters), ``weights`` (Algorithm 1).

One page          Here
``cast``          ``cast_votes`` in :mod:`mvref.core.voters`, one table for a view
``votes``         the columns of ``G`` in ``weights``
``move_voters``   ``reweigh``, ``step_length``
``move_views``    ``mixture``
``fit``           ``fit_pool``, ``learn_weights``
"""

from .estimator import MwMvC2
from .weights import TwoLevelWeights, learn_weights

__all__ = ["MwMvC2", "TwoLevelWeights", "learn_weights"]
