"""MVPO: optimise a multivariate performance measure on several views, by cutting planes.

Read in this order: ``estimator`` (the problem and the classifier), ``most_violated`` (the most
violated labels for each measure), ``solver`` (cutting planes), ``metric`` (the norm that makes the
views agree).

One page                Here
``change_of_weights``   ``PrimalMetric``, which factorises M and changes nothing
``worst_for_f1``        ``f_beta_argmax``, and so for ``prbep_argmax``, ``auroc_argmax``
``best_weights``        ``solve_budget_qp`` in :mod:`mvref.core.simplex_qp`
``fit``                 ``cutting_planes``
"""

from .estimator import MVPO
from .metric import DualMetric, PrimalMetric
from .most_violated import (
    MEASURES,
    RANKING,
    auroc_argmax,
    error_argmax,
    f_beta_argmax,
    most_violated_of,
    prbep_argmax,
    ranking_threshold,
    scale_of,
)
from .solver import CutSolution, cutting_planes

__all__ = [
    "MEASURES", "MVPO", "RANKING", "CutSolution", "DualMetric", "PrimalMetric", "auroc_argmax",
    "cutting_planes", "error_argmax", "f_beta_argmax", "most_violated_of", "prbep_argmax",
    "ranking_threshold", "scale_of",
]  # fmt: skip
