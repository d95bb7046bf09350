"""MwMvC2: a majority vote on two levels, voters within views and views.

Read in this order: ``estimator`` (the classifier and its voters), ``weights`` (Algorithm 1).
"""

from .estimator import MwMvC2
from .weights import TwoLevelWeights, learn_weights

__all__ = ["MwMvC2", "TwoLevelWeights", "learn_weights"]
